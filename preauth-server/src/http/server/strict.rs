//! Refuses requests that two servers could read differently, before anybody asks what they want.

use preauth_core::ErrorCode;
use salvo::http::header::{CONNECTION, HeaderValue};
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use super::head::Flaw;
use crate::http::error::ApiError;
use crate::http::{handler, messages};

/// A layer around every endpoint: answers a flawed request and ends its connection.
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
