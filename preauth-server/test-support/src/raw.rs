//! Raw requests, and complete answers.

use reqwest::header::HeaderMap;
use reqwest::{Client, Method};
use serde_json::Value;

use crate::Form;

/// Sends requests with one credential, or none.
#[derive(Clone)]
pub struct RawCaller {
    http: Client,
    base_url: String,
    token: Option<String>,
}

/// An answer, read to its end.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    /// The body.
    pub text: String,
}

impl RawCaller {
    /// Sends to this server, with this bearer token.
    pub fn new(base_url: &str, token: Option<&str>) -> Self {
        let http = Client::builder().no_proxy().build().unwrap();
        Self {
            http,
            base_url: base_url.to_owned(),
            token: token.map(ToOwned::to_owned),
        }
    }

    /// The same credential at another server.
    #[must_use]
    pub fn at(&self, base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            ..self.clone()
        }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], None).await
    }

    /// POST without a body.
    pub async fn post(&self, path: &str) -> Answer {
        self.send(Method::POST, path, &[], None).await
    }

    /// POST with a JSON body.
    pub async fn post_json(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, &[], body.to_string()).await
    }

    /// POST with `content-type: application/json`, any body, and more headers.
    pub async fn post_text(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Answer {
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.send(Method::POST, path, &all, Some(body.into())).await
    }

    /// POST of a form, with more headers.
    pub async fn post_form(&self, path: &str, headers: &[(&str, &str)], form: Form) -> Answer {
        let content_type = Form::content_type();
        let mut all = vec![("content-type", content_type.as_str())];
        all.extend_from_slice(headers);
        self.send(Method::POST, path, &all, Some(form.bytes()))
            .await
    }

    /// GET of a body that may be binary.
    pub async fn get_bytes(&self, path: &str) -> (HeaderMap, Vec<u8>) {
        let token = self.token.as_deref().unwrap_or_default();
        let request = self.http.get(format!("{}{path}", self.base_url));
        let answer = request.bearer_auth(token).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{path}");
        let headers = answer.headers().clone();
        (headers, answer.bytes().await.unwrap().to_vec())
    }

    /// Any request to a server that answers.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Answer {
        self.try_send(method, path, headers, body).await.unwrap()
    }

    /// Like [`RawCaller::send`], to a server that may be down.
    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Result<Answer, reqwest::Error> {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base_url));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let answer = request.send().await?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Ok(Answer {
            status,
            headers,
            text: answer.text().await?,
        })
    }
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{error} in {} {:?}", self.status, self.text))
    }

    /// The code of the first error; empty when there is none.
    pub fn code(&self) -> String {
        let body: Value = serde_json::from_str(&self.text).unwrap_or_default();
        body["errors"][0]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Status and code, for one comparison.
    pub fn refusal(&self) -> (u16, String) {
        (self.status, self.code())
    }

    /// The fields named by a validation error, in order.
    pub fn fields(&self) -> Vec<String> {
        let body = self.json();
        let details = body["details"].as_array().cloned().unwrap_or_default();
        details
            .iter()
            .map(|detail| detail["field"].as_str().unwrap_or("?").to_owned())
            .collect()
    }

    /// A header's value; empty when there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}
