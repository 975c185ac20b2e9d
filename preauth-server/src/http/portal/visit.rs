//! A request with a link: everything that is checked before a page is made.

use std::sync::Arc;

use preauth_core::ErrorCode;
use preauth_core::operation::{Command, Operation, State};
use preauth_core::port::Viewer;
use preauth_core::service::ServiceError;
use preauth_core::value::{OperationId, Timestamp};
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use crate::fair::{Tenant, charged_to};
use crate::http::client_address::ClientAddress;
use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::held;
use crate::http::pages::headers;
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;
use crate::log;
use crate::secret::SupplierPage;

use super::answer::Answer;
use super::frame::Frame;
use super::message::{self, Message};
use super::{LINK, PortalApi, cross_site, offer, viewing};

/// A request for a page of an operation that may be shown.
pub(super) struct Visit<'a> {
    pub(super) api: &'a PortalApi,
    pub(super) frame: Frame,
    pub(super) operation: Operation,
    pub(super) now: Timestamp,
}

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
        let visit = Visit {
            api,
            frame,
            operation,
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
        if !viewing::is_shown(visit.api, &visit.operation, visit.now).await? {
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

impl Visit<'_> {
    /// Whether the supplier may still answer.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.operation.state, State::InPreAuth) && !self.operation.is_overdue(self.now)
    }

    /// Leads back to the offer's page, which shows what is so now.
    pub(super) fn back(&self) -> Reply {
        headers::see_other(&self.frame.path(&SupplierPage::Offer))
    }

    /// The offer's page as it is now, when something that was asked for is not possible.
    pub(super) fn refusal(&self) -> Result<Reply, ApiError> {
        offer::page(self, StatusCode::CONFLICT, Some(Message::NotPossible))
    }

    /// Executes the supplier's command like the platform API does, and shows the result. `is_done` tells
    /// whether an operation is already as the command would make it: a form that was sent twice.
    pub(super) async fn answer(
        &self,
        command: &Command,
        is_done: fn(&Operation) -> bool,
    ) -> Result<Reply, ApiError> {
        let api = self.api;
        let (id, actor) = (self.operation.id, command.platform_actor());
        let done = api
            .operations
            .command(Viewer::Platform, id, command, actor, self.now);
        match done.await {
            Ok(done) => {
                log::moved(&done, None);
                Ok(self.back())
            }
            Err(ServiceError::Rejected(_)) => {
                let operation = find(api, id).await?;
                let operation = operation.ok_or(ApiError::new(ErrorCode::NotFound))?;
                if is_done(&operation) {
                    return Ok(self.back());
                }
                let present = Visit {
                    api,
                    frame: self.frame.clone(),
                    operation,
                    now: self.now,
                };
                present.refusal()
            }
            Err(ServiceError::Unknown(cause)) => Err(ApiError::unavailable(cause)),
            Err(error) => Err(error.into()),
        }
    }
}

async fn find(api: &PortalApi, id: OperationId) -> Result<Option<Operation>, ApiError> {
    Ok(api.queries.find(Viewer::Platform, id).await?)
}
