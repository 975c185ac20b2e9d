//! The integration API: the operations of the contract, and creates of many at once or of none, on the public
//! listener.

mod batch;
mod cancel;
mod create;
mod events;
mod find;
mod list;
mod magic;
mod validate;

use std::sync::Arc;

use preauth_core::ErrorCode;
use preauth_core::port::{IdSource, Queries};
use preauth_core::service::Operations;
use preauth_core::value::Scope;
use preauth_core::wire::path;
use salvo::http::{Request, Response};
use salvo::{Depot, FlowCtrl, Handler, Router, Service, async_trait};

use crate::clock::Clock;
use crate::fair::{Tenant, charged_to};
use crate::hold::Hold;
use crate::invoice_files::InvoiceFiles;
use crate::telemetry::RequestTelemetry;

use super::caller::{Admission, Caller, Gate};
use super::description;
use super::error::ApiError;
use super::handler;
use super::held;
use super::in_progress::RequestsInProgress;
use super::messages;
use super::reply::Reply;
use super::request_notes::RequestNotes;
use super::server;

pub use events::EventsOnRequest;
pub use magic::{MAGIC_PREFIX, Magic};

/// Seconds after which a request may be retried whose head office had too many in progress.
const RETRY_CROWDED_SECONDS: u32 = 1;

/// The dependencies of the endpoints.
pub struct IntegrationApi {
    /// The use cases.
    pub operations: Arc<Operations>,
    /// The read side.
    pub queries: Arc<dyn Queries>,
    /// Authenticates and authorizes callers.
    pub gate: Gate,
    /// Limits the requests in progress of each head office.
    pub in_progress: RequestsInProgress,
    /// The store of offers' files.
    pub files: Arc<InvoiceFiles>,
    /// What answers with events.
    pub events: EventsOnRequest,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// Recognises magic values in a sandbox; `None` in production.
    pub magic: Option<Magic>,
    /// Prevents this instance from acting.
    pub hold: Hold,
}

/// One operation of the contract.
#[async_trait]
trait Endpoint: Send + Sync + 'static {
    /// The scope that a key needs (contract, "Authentication").
    const SCOPE: Scope;

    /// Extract, convert, one call, convert.
    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError>;
}

/// An endpoint behind the gate.
struct Guarded<E> {
    api: Arc<IntegrationApi>,
    route: Arc<str>,
    endpoint: E,
}

#[async_trait]
impl<E: Endpoint> Handler for Guarded<E> {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        charged_to(Tenant::Unknown, self.serve(req, depot, res)).await;
    }
}

impl<E: Endpoint> Guarded<E> {
    async fn serve(&self, req: &mut Request, depot: &mut Depot, res: &mut Response) {
        if let Err(refusal) = held::refuse(&self.api.hold, false) {
            RequestNotes::of(depot).route = Some(Arc::clone(&self.route));
            handler::refuse(refusal, depot, res);
            return;
        }
        let Admission {
            caller,
            key,
            window,
            under_way: _under_way,
        } = self.api.gate.admit(req, E::SCOPE).await;
        let notes = RequestNotes::of(depot);
        notes.key = key;
        notes.is_of_overload = caller.as_ref().is_err_and(ApiError::is_of_overload);
        notes.route = Some(Arc::clone(&self.route));
        let may_go_on = caller
            .and_then(|caller| held::refuse(&self.api.hold, held::is_write(req)).map(|()| caller));
        let outcome = match may_go_on {
            Ok(caller) => self.run(caller, req, depot, res).await,
            Err(refusal) => Err(refusal),
        };
        let is_crowded = RequestNotes::of(depot).is_crowded;
        let window = window.and_then(|window| match &outcome {
            Ok(_) => Some(window),
            // The key's window is not used up.
            Err(_) if is_crowded => Some(window),
            Err(refusal) => window.beside(refusal.code),
        });
        let reply = handler::settle(outcome, depot);
        match window {
            Some(window) => window.add_to(reply).write(res),
            None => reply.write(res),
        }
    }

    /// Runs the endpoint, unless the caller's head office has too many requests in progress.
    async fn run(
        &self,
        caller: Caller,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
    ) -> Result<Reply, ApiError> {
        let Some(in_progress) = self.api.in_progress.begin(caller.head_office) else {
            RequestNotes::of(depot).is_crowded = true;
            let refusal = ApiError::new(ErrorCode::RateLimited);
            return Err(refusal
                .message(messages::HEAD_OFFICE_CROWDED)
                .retry_after(RETRY_CROWDED_SECONDS));
        };
        res.extensions.insert(in_progress);
        let answer = self.endpoint.answer(&self.api, caller, req);
        handler::run(charged_to(caller.tenant(), answer)).await
    }
}

/// The integration API as a listener serves it, with its `descriptions`, each under its path.
#[must_use]
pub fn service(
    api: IntegrationApi,
    descriptions: [(&'static str, String); 3],
    ids: Arc<dyn IdSource>,
    telemetry: RequestTelemetry,
) -> Service {
    let api = Arc::new(api);
    let clock = Arc::clone(&api.clock);
    let mut routes = routes(&api);
    for (path, text) in descriptions {
        routes = routes.push(description::route(path, text));
    }
    server::service(routes, "integration", clock, ids, telemetry)
}

/// The routes of the contract.
fn routes(api: &Arc<IntegrationApi>) -> Router {
    fn guarded<E: Endpoint>(api: &Arc<IntegrationApi>, route: &str, endpoint: E) -> Guarded<E> {
        Guarded {
            api: Arc::clone(api),
            route: route.into(),
            endpoint,
        }
    }
    let (all, one, cancel) = (
        path::PRE_AUTHORIZATIONS,
        path::PRE_AUTHORIZATION_ROUTE,
        path::CANCEL_ROUTE,
    );
    Router::new()
        .push(
            Router::with_path(all)
                .get(guarded(api, all, list::List))
                .head(guarded(api, all, list::List))
                .post(guarded(api, all, create::Create)),
        )
        .push(Router::with_path(path::BATCH).post(guarded(api, path::BATCH, batch::Batch)))
        .push(Router::with_path(path::VALIDATE).post(guarded(
            api,
            path::VALIDATE,
            validate::Validate,
        )))
        .push(
            Router::with_path(one)
                .get(guarded(api, one, find::Find))
                .head(guarded(api, one, find::Find)),
        )
        .push(
            Router::with_path(path::EVENTS)
                .get(guarded(api, path::EVENTS, events::Events))
                .head(guarded(api, path::EVENTS, events::Events)),
        )
        .push(Router::with_path(cancel).post(guarded(api, cancel, cancel::Cancel)))
}

impl std::fmt::Debug for IntegrationApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntegrationApi")
            .field("gate", &self.gate)
            .finish_non_exhaustive()
    }
}
