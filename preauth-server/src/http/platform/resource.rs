//! A path of the platform API and the endpoints of its methods.

use std::sync::Arc;

use preauth_core::ErrorCode;
use preauth_core::access::OperatorRole;
use preauth_core::port::Audited;
use preauth_core::wire::header;
use salvo::http::{Method, Request, Response};
use salvo::routing::filters::MethodFilter;
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::audit_trail::{AuditedRequest, auditing};
use crate::directory::AuditOutcome;
use crate::fair::{Tenant, charged_to};
use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::held;
use crate::http::openapi::described::Described;
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;
use crate::log;

use super::audited::Named;
use super::calling_operator::CallingOperator;
use super::create::{Create, Keyed};
use super::endpoint::Endpoint;
use super::{PREFIX, PlatformApi};

/// A path under the prefix, with the endpoints of its methods.
pub(super) struct Resource {
    path: String,
    endpoints: Vec<Route>,
}

/// A method of a path.
struct Route {
    method: Method,
    /// The lowest role that permits it.
    minimum: OperatorRole,
    endpoint: Arc<dyn Endpoint>,
}

impl Resource {
    pub(super) fn at(path: impl AsRef<str>) -> Self {
        Self {
            path: format!("{PREFIX}/{}", path.as_ref()),
            endpoints: Vec::new(),
        }
    }

    /// HEAD answers like GET.
    pub(super) fn get(mut self, minimum: OperatorRole, endpoint: impl Endpoint) -> Self {
        let endpoint: Arc<dyn Endpoint> = Arc::new(endpoint);
        for method in [Method::GET, Method::HEAD] {
            self.endpoints.push(Route {
                method,
                minimum,
                endpoint: Arc::clone(&endpoint),
            });
        }
        self
    }

    pub(super) fn post(self, minimum: OperatorRole, endpoint: impl Endpoint) -> Self {
        self.add(Method::POST, minimum, endpoint)
    }

    /// A POST that creates a record, with or without an idempotency key.
    pub(super) fn create(self, minimum: OperatorRole, creating: impl Create) -> Self {
        self.post(minimum, Keyed(creating))
    }

    pub(super) fn put(self, minimum: OperatorRole, endpoint: impl Endpoint) -> Self {
        self.add(Method::PUT, minimum, endpoint)
    }

    pub(super) fn patch(self, minimum: OperatorRole, endpoint: impl Endpoint) -> Self {
        self.add(Method::PATCH, minimum, endpoint)
    }

    pub(super) fn delete(self, minimum: OperatorRole, endpoint: impl Endpoint) -> Self {
        self.add(Method::DELETE, minimum, endpoint)
    }

    /// Each method with the path, in the form of the documents.
    pub(super) fn names(&self) -> impl Iterator<Item = (String, String)> {
        self.endpoints
            .iter()
            .map(|route| (route.method.to_string(), self.path.clone()))
    }

    /// The description of each method; HEAD is not described.
    pub(super) fn described(&self) -> impl Iterator<Item = Described> {
        let endpoints = self.endpoints.iter();
        endpoints
            .filter(|route| route.method != Method::HEAD)
            .map(|route| {
                let method = route.method.as_str().to_ascii_lowercase();
                let described = route.endpoint.document(Described::at(method, &self.path));
                described.for_role(route.minimum)
            })
    }

    /// The path as the framework serves it.
    pub(super) fn router(self, api: &Arc<PlatformApi>) -> Router {
        let path = self.path.clone();
        let route = |router: Router, guarded: Guarded| {
            let method = MethodFilter(guarded.method.clone());
            router.push(Router::with_filter(method).goal(guarded))
        };
        self.guarded(api)
            .into_iter()
            .fold(Router::with_path(path), route)
    }

    /// Each method with the checks around its endpoint.
    pub(super) fn guarded(self, api: &Arc<PlatformApi>) -> Vec<Guarded> {
        let template: Arc<str> = self.path.into();
        let guarded = |route: Route| Guarded {
            api: Arc::clone(api),
            route: Arc::clone(&template),
            method: route.method,
            minimum: route.minimum,
            action: route.endpoint.document(Described::at("", "")).name(),
            endpoint: route.endpoint,
        };
        self.endpoints.into_iter().map(guarded).collect()
    }

    fn add(mut self, method: Method, minimum: OperatorRole, endpoint: impl Endpoint) -> Self {
        self.endpoints.push(Route {
            method,
            minimum,
            endpoint: Arc::new(endpoint),
        });
        self
    }
}

/// Wraps an endpoint with the check of the operator's token and role; every endpoint is routed through
/// it.
pub(super) struct Guarded {
    api: Arc<PlatformApi>,
    /// The path, with the names of its parameters.
    pub(super) route: Arc<str>,
    pub(super) method: Method,
    pub(super) minimum: OperatorRole,
    /// Its name in the description, and in the audit log.
    action: &'static str,
    endpoint: Arc<dyn Endpoint>,
}

#[async_trait]
impl Handler for Guarded {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let outcome = self.outcome(req, depot).await;
        handler::settle(outcome, depot).write(res);
    }
}

impl Guarded {
    /// The answer to a request of this path and method.
    pub(super) async fn outcome(
        &self,
        req: &mut Request,
        depot: &mut Depot,
    ) -> Result<Reply, ApiError> {
        RequestNotes::of(depot).route = Some(Arc::clone(&self.route));
        self.admit(req, depot).await?;
        charged_to(Tenant::Platform, self.answer(req)).await
    }

    /// Checks token, role and hold, in this order, and attaches the operator to the request.
    async fn admit(&self, req: &mut Request, depot: &mut Depot) -> Result<(), ApiError> {
        let calling = self.api.gate.admit(req).await?;
        RequestNotes::of(depot).operator = Some(calling.name.clone());
        if !calling.role.permits(self.minimum) {
            charged_to(Tenant::Platform, self.note_forbidden(&calling, req)).await;
            return Err(ApiError::new(ErrorCode::OperatorForbidden));
        }
        calling.attach(req);
        held::refuse(&self.api.hold, self.is_write(req))
    }

    /// The endpoint's answer. What a write commits leaves its row in the audit log; an accepted one that had
    /// nothing to commit leaves it here.
    async fn answer(&self, req: &mut Request) -> Result<Reply, ApiError> {
        if !self.is_write(req) {
            return handler::run(self.endpoint.answer(&self.api, req)).await;
        }
        let calling = CallingOperator::of(req)?;
        let request = Arc::new(self.audited(&calling, req)?);
        req.extensions_mut().insert(Arc::clone(&request));
        let answer = self.endpoint.answer(&self.api, req);
        let reply = handler::run(auditing(Arc::clone(&request), answer)).await;
        // A 503 promises that nothing was done, which nobody may say after a commit.
        let is_begun = request.has_row();
        let reply = reply.map_err(|error| {
            if is_begun {
                error.after_commit()
            } else {
                error
            }
        })?;
        let is_replay = reply.has_header(header::IDEMPOTENCY_REPLAYED);
        if !request.has_row() && !is_replay {
            let left = self.api.directory.leave_row(request, AuditOutcome::Done);
            // It was done, though no commit of this request is known of.
            left.await
                .map_err(|error| ApiError::from(error).after_commit())?;
        }
        Ok(reply)
    }

    /// Leaves a row for a refusal of the operator's role. Failing to changes nothing about the refusal.
    async fn note_forbidden(&self, calling: &CallingOperator, req: &Request) {
        let now = self.api.clock.now();
        let is_first = self.api.gate.is_first_refusal(calling, self.action, now);
        if !is_first || self.api.hold.is_held() {
            return;
        }
        let Ok(request) = self.audited(calling, req) else {
            return;
        };
        let directory = &self.api.directory;
        let left = directory.leave_row(Arc::new(request), AuditOutcome::Forbidden);
        if let Err(error) = left.await {
            let error = log::chain(&error);
            tracing::warn!(target: "audit_log", action = self.action, error, "a refusal has no row");
        }
    }

    fn audited(
        &self,
        calling: &CallingOperator,
        req: &Request,
    ) -> Result<AuditedRequest, ApiError> {
        let named = Named::by(&self.route, req);
        let audited = Audited {
            role: calling.role,
            action: self.action,
            record: named.record,
        };
        let (at, operator) = (self.api.clock.now(), calling.acting(req)?);
        Ok(AuditedRequest::new(at, operator, audited, named.company))
    }

    fn is_write(&self, req: &Request) -> bool {
        held::is_write(req) && !self.endpoint.only_reads()
    }
}
