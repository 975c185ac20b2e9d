//! Everything that is checked before a page is made.

use std::sync::Arc;

use preauth_core::ErrorCode;
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use crate::fair::{Tenant, charged_to};
use crate::http::client_address::ClientAddress;
use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::held;
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;

use super::answer::Answer;
use super::frame::Frame;
use super::message::{self, Message};
use super::visit::{Visit, find};
use super::{ADDRESS, LINK, PortalApi, cross_site, viewing};

/// A page behind the check of its link.
pub(super) struct Behind<A> {
    api: Arc<PortalApi>,
    route: Arc<str>,
    answer: A,
}

impl<A: Answer> Behind<A> {
    pub(super) fn new(api: Arc<PortalApi>, route: &str, answer: A) -> Self {
        Self {
            api,
            route: route.into(),
            answer,
        }
    }

    async fn serve(&self, req: &mut Request) -> Result<Reply, ApiError> {
        let api = &*self.api;
        let (now, is_form) = (api.clock.now(), held::is_write(req));
        let client = ClientAddress::of_request(req);
        if let Err(seconds) = api.limiter.count(client, now) {
            return Err(ApiError::new(ErrorCode::RateLimited).retry_after(seconds));
        }
        held::refuse(&api.hold, is_form)?;
        let link = req.param::<String>(LINK).unwrap_or_default();
        // The same answer, and nothing looked up, whether there is such an operation or not.
        let id = api.links.open(&link);
        let id = id.ok_or(ApiError::new(ErrorCode::NotFound))?;
        let frame = Frame::of(req, link);
        if is_form && cross_site::is_cross_site(req, api.links.base()) {
            return Ok(message::page(
                &frame,
                StatusCode::FORBIDDEN,
                Message::CrossSite,
            ));
        }
        let Some(operation) = find(api, id).await? else {
            return Err(ApiError::new(ErrorCode::NotFound));
        };
        let address = match req.param::<String>(ADDRESS) {
            Some(sealed) => {
                let address = api.links.open_address(id, &sealed);
                Some(address.ok_or(ApiError::new(ErrorCode::NotFound))?)
            }
            None => None,
        };
        let visit = Visit {
            api,
            frame,
            operation,
            address,
            now,
        };
        let tenant = Tenant::HeadOffice(visit.operation.payer.head_office);
        charged_to(tenant, self.run(visit, req, is_form)).await
    }

    async fn run(
        &self,
        visit: Visit<'_>,
        req: &mut Request,
        is_form: bool,
    ) -> Result<Reply, ApiError> {
        // A mail can be read for longer than its offer is shown.
        let is_of_mail = visit.address.is_some();
        if !is_of_mail && !viewing::is_shown(visit.api, &visit.operation, visit.now).await? {
            let gone = Message::Over;
            return Ok(message::page(&visit.frame, StatusCode::GONE, gone));
        }
        if is_form {
            self.answer.submit(&visit, req).await
        } else {
            self.answer.read(&visit).await
        }
    }
}

#[async_trait]
impl<A: Answer> Handler for Behind<A> {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        RequestNotes::of(depot).route = Some(Arc::clone(&self.route));
        let outcome = handler::run(charged_to(Tenant::Unknown, self.serve(req))).await;
        handler::settle(outcome, depot).write(res);
    }
}
