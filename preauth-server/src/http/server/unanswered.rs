//! Replaces the framework's own error pages.

use preauth_core::ErrorCode;
use salvo::http::header::{CONTENT_LENGTH, HeaderValue};
use salvo::http::{Method, Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use crate::http::error::ApiError;
use crate::http::{handler, messages};

/// A layer around every endpoint: gives every refusal its body, and HEAD the length of GET's
/// answer.
pub(super) struct Unanswered {
    /// Which listener it is, for hints about its paths.
    pub(super) listener: &'static str,
}

#[async_trait]
impl Handler for Unanswered {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        ctrl.call_next(req, depot, res).await;
        if res.body.is_none() {
            let refused = res.status_code.and_then(code_of);
            if let Some(code) = refused {
                handler::refuse(self.refusal(code, req), depot, res);
            }
        }
        if req.method() == Method::HEAD
            && let Some(length) = res.body.size()
        {
            // The framework drops the body afterwards, and its length with it.
            res.headers_mut()
                .insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
    }
}

impl Unanswered {
    fn refusal(&self, code: ErrorCode, req: &Request) -> ApiError {
        let error = ApiError::new(code);
        if code != ErrorCode::NotFound {
            return error;
        }
        match messages::no_such_path(self.listener, req.uri().path()) {
            Some(message) => error.message(message),
            None => error,
        }
    }
}

/// The code for a status set by the framework.
fn code_of(status: StatusCode) -> Option<ErrorCode> {
    match status {
        StatusCode::NOT_FOUND => Some(ErrorCode::NotFound),
        StatusCode::METHOD_NOT_ALLOWED => Some(ErrorCode::MethodNotAllowed),
        StatusCode::PAYLOAD_TOO_LARGE => Some(ErrorCode::PayloadTooLarge),
        StatusCode::REQUEST_TIMEOUT => Some(ErrorCode::RequestTimeout),
        status if status.is_client_error() => Some(ErrorCode::BadRequest),
        status if status.is_server_error() => Some(ErrorCode::InternalError),
        _ => None,
    }
}
