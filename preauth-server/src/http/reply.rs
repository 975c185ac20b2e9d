//! An answer before the web framework sees it.

use salvo::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use salvo::http::{Response, StatusCode};

/// Status, headers and a JSON body, or none.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    body: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Reply {
    /// An answer with a JSON body.
    #[must_use]
    pub const fn json(status: StatusCode, body: String) -> Self {
        Self {
            status,
            body: Some(body),
            headers: Vec::new(),
        }
    }

    /// 204: done, and nothing to tell.
    #[must_use]
    pub const fn no_content() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            body: None,
            headers: Vec::new(),
        }
    }

    /// Adds a header; one whose value is no header value is left out.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// Writes it into the framework's response.
    pub fn write(self, res: &mut Response) {
        res.status_code(self.status);
        for (name, value) in self.headers {
            res.headers_mut().insert(name, value);
        }
        if let Some(body) = self.body {
            let json = HeaderValue::from_static("application/json; charset=utf-8");
            res.headers_mut().insert(CONTENT_TYPE, json);
            res.body(body);
        }
    }
}
