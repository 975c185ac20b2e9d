//! Builds the HTTP request.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, HOST};
use preauth_core::port::AttemptError;
use url::Position;

use crate::dispatcher::Request;
use crate::dispatcher::endpoint_url::EndpointUrl;

/// A request with its whole body.
pub(super) type Message = hyper::Request<Full<Bytes>>;

/// A POST to the endpoint's path, with the endpoint's host name as `Host`.
pub(super) fn message(endpoint: &EndpointUrl, request: Request) -> Result<Message, AttemptError> {
    let url = endpoint.url();
    let mut message = hyper::Request::post(&url[Position::BeforePath..])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(ACCEPT, "*/*");
    for (name, value) in request.headers {
        message = message.header(name, value);
    }
    let message = message.body(Full::from(request.body));
    // Every parsed URL makes a valid request.
    message.map_err(|_| AttemptError::UrlRefused)
}
