//! Builds the HTTP request.

use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{ACCEPT, HOST};
use preauth_core::port::AttemptError;
use url::Position;

use crate::dispatcher::Request;
use crate::dispatcher::endpoint_url::EndpointUrl;

use super::body::SentBody;

/// A request with its whole body.
pub(super) type Message = hyper::Request<SentBody>;

/// A POST to the endpoint's path, with the endpoint's host name as `Host`.
pub(super) fn message(
    endpoint: &EndpointUrl,
    request: Request,
    piece_pause: Option<Duration>,
) -> Result<Message, AttemptError> {
    let url = endpoint.url();
    let mut message = hyper::Request::post(&url[Position::BeforePath..])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(ACCEPT, "*/*");
    for (name, value) in request.headers {
        message = message.header(name, value);
    }
    let message = message.body(SentBody::new(Bytes::from(request.body), piece_pause));
    // Every parsed URL makes a valid request.
    message.map_err(|_| AttemptError::UrlRefused)
}
