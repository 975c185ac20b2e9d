//! The answer to a path below the console's that has no page, or to a method that its page does not know.

use std::sync::Arc;

use preauth_core::ErrorCode;
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use crate::fair::{Tenant, charged_to};
use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::pages::words::Words;
use crate::http::pages::{headers, language};
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;

use super::failure::{self, Wanted};
use super::frame::Frame;
use super::links::{path_from, within_console};
use super::visit::{Visit, here};
use super::{Console, PREFIX};

/// A layer around the endpoints of the private listener. Without a session, nobody learns which paths have pages.
pub(super) struct NoSuchPage(pub(super) Arc<Console>);

#[async_trait]
impl Handler for NoSuchPage {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        ctrl.call_next(req, depot, res).await;
        // Pages and refusals have a body; without one, no endpoint has answered.
        let is_unanswered = res.status_code == Some(StatusCode::NOT_FOUND) && res.body.is_none();
        if !is_unanswered || !is_below_console(req.uri().path()) {
            return;
        }
        let answer = charged_to(Tenant::Platform, handler::run(self.answer(req, depot))).await;
        handler::settle(answer, depot).write(res);
    }
}

impl NoSuchPage {
    async fn answer(&self, req: &Request, depot: &mut Depot) -> Result<Reply, ApiError> {
        let words = Words(language::of_request(req));
        let again = within_console(&here(req)).to_owned();
        let signed = match self.0.signed(req).await {
            Ok(Some(signed)) => signed,
            Ok(None) => return Ok(headers::see_other(&path_from(&again))),
            Err(error) => {
                RequestNotes::of(depot).code = Some(error.code);
                return failure::page(error.into(), Wanted::Page, Frame::open(words, &again));
            }
        };
        let notes = RequestNotes::of(depot);
        notes.operator = Some(signed.operator.name.clone());
        notes.code = Some(ErrorCode::NotFound);
        let visit = Visit::new(&self.0, signed, words, req)?;
        failure::no_such_page(visit.frame_at(again))
    }
}

/// Whether a path is the console's, or one below it.
fn is_below_console(path: &str) -> bool {
    let rest = path.strip_prefix(PREFIX);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
