//! A create as `multipart/form-data`. Contract, "Multipart variant".

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

/// A form that can be made into a body again for each attempt.
pub(crate) struct Form {
    boundary: String,
    /// All text parts and the head of the file's part.
    before: Bytes,
    content: Loaded,
    after: Bytes,
}

impl Form {
    /// Writes the form. `boundary` must occur in no part, which a random one does not.
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
        // A boundary is drawn from letters and digits, which no header refuses.
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

    /// Whether it can be sent from its beginning: a stream can once.
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
    // As browsers do it; the backslash too, which some servers take for an escape.
    let name = name.replace('\\', "%5C").replace('"', "%22");
    let media_type = file_type.as_str();
    let _ = write!(
        form,
        "--{boundary}\r\ncontent-disposition: form-data; name=\"invoiceFile\"; \
         filename=\"{name}\"\r\ncontent-type: {media_type}\r\n\r\n"
    );
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Form").finish_non_exhaustive()
    }
}
