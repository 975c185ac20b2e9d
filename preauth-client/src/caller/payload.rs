//! The body of a request.

use bytes::Bytes;
use reqwest::Body;
use reqwest::header::HeaderValue;

use crate::file::Form;

/// The body of a request, kept for all its attempts.
#[derive(Debug)]
pub(crate) enum Payload {
    /// No body.
    Empty,
    /// A JSON document.
    Json(Bytes),
    /// A form with an invoice file.
    Form(Form),
}

impl Payload {
    /// The next attempt's body with its type, if there is one.
    pub(super) fn body(&self) -> Option<(HeaderValue, Body)> {
        match self {
            Self::Empty => None,
            Self::Json(json) => {
                let content_type = HeaderValue::from_static("application/json");
                Some((content_type, Body::from(json.clone())))
            }
            Self::Form(form) => Some((form.content_type(), form.body())),
        }
    }

    /// Whether the body can still be sent from its beginning.
    pub(super) fn is_whole(&self) -> bool {
        match self {
            Self::Empty | Self::Json(_) => true,
            Self::Form(form) => form.is_whole(),
        }
    }
}
