//! Builds the HTTP request.

use std::time::Duration;

use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, HOST};
use preauth_core::port::AttemptError;
use url::Position;

use crate::dispatcher::Request;
use crate::dispatcher::endpoint_url::EndpointUrl;

use super::slow_body::SlowBody;

/// The whole body, or the pieces of a probe.
pub(super) type SentBody = Either<Full<Bytes>, SlowBody>;

/// A request with its body.
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
    let body = match piece_pause {
        None => Either::Left(Full::from(request.body)),
        Some(pause) => Either::Right(SlowBody::new(Bytes::from(request.body), pause)),
    };
    let message = message.body(body);
    // Every parsed URL makes a valid request.
    message.map_err(|_| AttemptError::UrlRefused)
}
