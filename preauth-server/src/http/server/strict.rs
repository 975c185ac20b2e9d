//! Refuses requests that two servers could read differently, and those of a client with too many in
//! progress, before their endpoint sees them.

use preauth_core::ErrorCode;
use salvo::http::header::{CONNECTION, HeaderValue};
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use super::head::Flaw;
use crate::http::error::ApiError;
use crate::http::{handler, messages};

/// Seconds after which a request may be retried if its client had too many in progress.
const RETRY_SECONDS: u32 = 1;

/// An extension of a request: its client has too many in progress, through a trusted proxy.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooManyInProgress;

/// A layer around every endpoint: answers a flawed request and closes its connection.
pub(super) struct Strict;

#[async_trait]
impl Handler for Strict {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let Some(flaw) = req.extensions().get::<Flaw>().copied() else {
            if req.extensions().get::<TooManyInProgress>().is_some() {
                let refusal = ApiError::new(ErrorCode::ServiceUnavailable);
                let refusal = refusal
                    .message(messages::CROWDED)
                    .retry_after(RETRY_SECONDS);
                handler::refuse(refusal, depot, res);
                ctrl.skip_rest();
            }
            return;
        };
        let refusal = ApiError::new(ErrorCode::BadRequest).message(messages::flaw(flaw));
        handler::refuse(refusal, depot, res);
        if flaw == Flaw::TargetTooLong {
            res.status_code(StatusCode::URI_TOO_LONG);
        }
        let close = HeaderValue::from_static("close");
        res.headers_mut().insert(CONNECTION, close);
        ctrl.skip_rest();
    }
}
