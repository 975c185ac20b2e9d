//! Multipart bodies of create requests.

use serde_json::Value;

/// The boundary; no content in the tests contains it.
const BOUNDARY: &str = "----a-boundary-of-the-tests";

/// A form under construction.
pub struct Form(Vec<u8>);

impl Form {
    /// A form with the content of this JSON body.
    pub fn of(body: &Value) -> Self {
        let mut form = Self(Vec::new());
        for (name, value) in body.as_object().unwrap() {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), ToOwned::to_owned);
            let head = format!("Content-Disposition: form-data; name=\"{name}\"");
            form = form.part(&head, text.as_bytes());
        }
        form
    }

    /// Adds this file.
    #[must_use]
    pub fn file(self, name: &str, media_type: &str, content: &[u8]) -> Self {
        let head = format!(
            "Content-Disposition: form-data; name=\"invoiceFile\"; filename=\"{name}\"\r\nContent-Type: {media_type}"
        );
        self.part(&head, content)
    }

    /// Adds a part with these header lines and this content.
    #[must_use]
    pub fn part(mut self, head: &str, content: &[u8]) -> Self {
        let head = format!("--{BOUNDARY}\r\n{head}\r\n\r\n");
        for piece in [head.as_bytes(), content, b"\r\n"] {
            self.0.extend_from_slice(piece);
        }
        self
    }

    /// Its media type.
    pub fn content_type() -> String {
        format!("multipart/form-data; boundary={BOUNDARY}")
    }

    /// The whole body.
    pub fn bytes(mut self) -> Vec<u8> {
        self.0
            .extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        self.0
    }
}
