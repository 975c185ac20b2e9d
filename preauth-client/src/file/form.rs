//! A create as `multipart/form-data`.
//! [Contract, "Multipart variant"](https://example.com/preauth/blob/main/docs/reference.md#multipart-variant).

use std::fmt::Write;

use bytes::Bytes;
use preauth_core::wire::CreatePreAuthorization;
use reqwest::Body;
use reqwest::header::HeaderValue;
use serde::Serialize;

use super::body::FormBody;
use super::content::Loaded;
use super::{FileType, InvoiceFile};
use crate::{Error, ErrorKind};

/// Escapes that browsers write for `"`, CR and LF in a file name, without escaping the percent sign.
const ESCAPES_OF_BROWSERS: [&str; 3] = ["%22", "%0D", "%0A"];

/// A form that provides a new body for each attempt.
pub(crate) struct Form {
    boundary: String,
    /// All text parts and the headers of the file's part.
    before: Bytes,
    content: Loaded,
    after: Bytes,
}

impl Form {
    /// Writes the form. `boundary` must not occur in any part; a random one does not.
    pub(crate) async fn new(
        offer: &CreatePreAuthorization,
        file: &InvoiceFile,
        boundary: String,
    ) -> Result<Self, Error> {
        let content = file.content.load().await?;
        let mut text = String::new();
        text_part(&mut text, &boundary, "supplier", &json(&offer.supplier)?);
        text_part(&mut text, &boundary, "invoice", &json(&offer.invoice)?);
        if let Some(reference) = &offer.external_reference {
            text_part(
                &mut text,
                &boundary,
                "externalReference",
                reference.as_str(),
            );
        }
        file_head(&mut text, &boundary, &file.name, file.file_type);
        Ok(Self {
            before: text.into(),
            content,
            after: format!("\r\n--{boundary}--\r\n").into(),
            boundary,
        })
    }

    pub(crate) fn content_type(&self) -> HeaderValue {
        let text = format!("multipart/form-data; boundary={}", self.boundary);
        // A boundary consists of letters and digits, which every header accepts.
        HeaderValue::from_str(&text)
            .unwrap_or_else(|_| HeaderValue::from_static("multipart/form-data"))
    }

    /// The next attempt's body.
    pub(crate) fn body(&self) -> Body {
        let (before, after) = (self.before.clone(), self.after.clone());
        Body::wrap(match &self.content {
            Loaded::Bytes(bytes) => FormBody::whole([before, bytes.clone(), after]),
            Loaded::Stream(stream) => FormBody::streaming(before, stream.clone(), after),
        })
    }

    /// Whether it can be sent from its beginning; a stream can only be sent once.
    pub(crate) fn is_whole(&self) -> bool {
        match &self.content {
            Loaded::Bytes(_) => true,
            Loaded::Stream(stream) => stream.is_there(),
        }
    }
}

fn json(part: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(part).map_err(|cause| Error::new(ErrorKind::Config).caused_by(cause))
}

fn text_part(form: &mut String, boundary: &str, name: &str, text: &str) {
    let _ = write!(
        form,
        "--{boundary}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n"
    );
}

fn file_head(form: &mut String, boundary: &str, name: &str, file_type: FileType) {
    let quoted = name.replace('\\', r"\\").replace('"', r#"\""#);
    let _ = write!(
        form,
        "--{boundary}\r\ncontent-disposition: form-data; name=\"invoiceFile\"; \
         filename=\"{quoted}\""
    );
    // Parsers of forms decode these escapes to a quote or a line end. `filename*` (RFC 8187) repeats the
    // name unambiguously.
    if ESCAPES_OF_BROWSERS
        .iter()
        .any(|escape| name.contains(escape))
    {
        form.push_str("; filename*=UTF-8''");
        percent_encode(form, name);
    }
    let _ = write!(form, "\r\ncontent-type: {}\r\n\r\n", file_type.as_str());
}

/// Percent-encodes (RFC 8187) every byte except ASCII letters, digits and `-._`, which need no escape.
fn percent_encode(form: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            form.push(char::from(byte));
        } else {
            let _ = write!(form, "%{byte:02X}");
        }
    }
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Form").finish_non_exhaustive()
    }
}
