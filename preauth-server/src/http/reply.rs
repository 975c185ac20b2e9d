//! An answer, independent of the web framework.

use std::fmt;

use salvo::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use salvo::http::{Response, StatusCode};

use crate::invoice_files::ContentStream;

/// Status, headers and a body, or none.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    body: Body,
    headers: Vec<(HeaderName, HeaderValue)>,
}

enum Body {
    None,
    Json(String),
    Text(&'static str, String),
    File(ContentStream),
}

impl Reply {
    /// An answer with a JSON body.
    #[must_use]
    pub const fn json(status: StatusCode, body: String) -> Self {
        Self {
            status,
            body: Body::Json(body),
            headers: Vec::new(),
        }
    }

    /// 204 without a body.
    #[must_use]
    pub const fn no_content() -> Self {
        Self::empty(StatusCode::NO_CONTENT)
    }

    /// An answer with a text of this media type.
    #[must_use]
    pub const fn text(status: StatusCode, media_type: &'static str, body: String) -> Self {
        Self {
            status,
            body: Body::Text(media_type, body),
            headers: Vec::new(),
        }
    }

    /// An answer without a body.
    #[must_use]
    pub const fn empty(status: StatusCode) -> Self {
        Self {
            status,
            body: Body::None,
            headers: Vec::new(),
        }
    }

    /// 200 with a file's bytes; the caller adds the headers.
    #[must_use]
    pub const fn file(stream: ContentStream) -> Self {
        Self {
            status: StatusCode::OK,
            body: Body::File(stream),
            headers: Vec::new(),
        }
    }

    /// Adds a header; an invalid value is left out.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// The body, if it is a text.
    #[must_use]
    pub fn body_text(&self) -> Option<&str> {
        match &self.body {
            Body::None => Some(""),
            Body::Json(text) | Body::Text(_, text) => Some(text),
            Body::File(_) => None,
        }
    }

    /// Whether it has a header.
    #[must_use]
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(it, _)| it == name)
    }

    /// Writes it into the framework's response.
    pub fn write(self, res: &mut Response) {
        res.status_code(self.status);
        for (name, value) in self.headers {
            res.headers_mut().insert(name, value);
        }
        match self.body {
            Body::None => {}
            Body::Json(body) => {
                let json = HeaderValue::from_static("application/json; charset=utf-8");
                res.headers_mut().insert(CONTENT_TYPE, json);
                res.body(body);
            }
            Body::Text(media_type, body) => {
                let media_type = HeaderValue::from_static(media_type);
                res.headers_mut().insert(CONTENT_TYPE, media_type);
                res.body(body);
            }
            Body::File(stream) => res.stream(stream),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Json(body) | Self::Text(_, body) => body,
            Self::File(_) => "File",
        })
    }
}
