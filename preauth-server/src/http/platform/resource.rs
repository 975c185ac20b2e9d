//! A path of the platform API and the endpoints of its methods.

use std::sync::Arc;

use salvo::http::{Method, Request, Response};
use salvo::routing::filters::MethodFilter;
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::fair::{Tenant, charged_to};
use crate::http::handler;
use crate::http::held;
use crate::http::openapi::described::Described;
use crate::http::request_notes::RequestNotes;

use super::create::{Create, Keyed};
use super::endpoint::Endpoint;
use super::{PREFIX, PlatformApi};

/// A path under the prefix, with the endpoints of its methods.
pub(super) struct Resource {
    path: String,
    endpoints: Vec<(Method, Arc<dyn Endpoint>)>,
}

impl Resource {
    pub(super) fn at(path: impl AsRef<str>) -> Self {
        Self {
            path: format!("{PREFIX}/{}", path.as_ref()),
            endpoints: Vec::new(),
        }
    }

    /// HEAD answers like GET.
    pub(super) fn get(mut self, endpoint: impl Endpoint) -> Self {
        let endpoint: Arc<dyn Endpoint> = Arc::new(endpoint);
        self.endpoints.push((Method::GET, Arc::clone(&endpoint)));
        self.endpoints.push((Method::HEAD, endpoint));
        self
    }

    pub(super) fn post(self, endpoint: impl Endpoint) -> Self {
        self.add(Method::POST, endpoint)
    }

    /// A POST that creates a record, with or without an idempotency key.
    pub(super) fn create(self, creating: impl Create) -> Self {
        self.post(Keyed(creating))
    }

    pub(super) fn put(self, endpoint: impl Endpoint) -> Self {
        self.add(Method::PUT, endpoint)
    }

    pub(super) fn patch(self, endpoint: impl Endpoint) -> Self {
        self.add(Method::PATCH, endpoint)
    }

    pub(super) fn delete(self, endpoint: impl Endpoint) -> Self {
        self.add(Method::DELETE, endpoint)
    }

    /// Each method with the path, in the form of the documents.
    pub(super) fn names(&self) -> impl Iterator<Item = (String, String)> {
        self.endpoints
            .iter()
            .map(|(method, _)| (method.to_string(), self.path.clone()))
    }

    /// The description of each method; HEAD is not described.
    pub(super) fn described(&self) -> impl Iterator<Item = Described> {
        let endpoints = self.endpoints.iter();
        endpoints
            .filter(|(method, _)| *method != Method::HEAD)
            .map(|(method, endpoint)| {
                let method = method.as_str().to_ascii_lowercase();
                endpoint.document(Described::at(method, &self.path))
            })
    }

    /// The path as the framework serves it.
    pub(super) fn router(self, api: &Arc<PlatformApi>) -> Router {
        let template: Arc<str> = self.path.as_str().into();
        let route = |router: Router, (method, endpoint)| {
            let guarded = Guarded {
                api: Arc::clone(api),
                route: Arc::clone(&template),
                endpoint,
            };
            router.push(Router::with_filter(MethodFilter(method)).goal(guarded))
        };
        self.endpoints
            .into_iter()
            .fold(Router::with_path(self.path), route)
    }

    fn add(mut self, method: Method, endpoint: impl Endpoint) -> Self {
        self.endpoints.push((method, Arc::new(endpoint)));
        self
    }
}

/// Wraps an endpoint with the check of the operator token; every endpoint is routed through it.
struct Guarded {
    api: Arc<PlatformApi>,
    route: Arc<str>,
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
        RequestNotes::of(depot).route = Some(Arc::clone(&self.route));
        let admitted = self.api.gate.validate(req);
        let is_write = held::is_write(req) && !self.endpoint.only_reads();
        let may_go_on = admitted.and_then(|()| held::refuse(&self.api.hold, is_write));
        let outcome = match may_go_on {
            Ok(()) => {
                let answer = self.endpoint.answer(&self.api, req);
                handler::run(charged_to(Tenant::Platform, answer)).await
            }
            Err(refusal) => Err(refusal),
        };
        handler::settle(outcome, depot).write(res);
    }
}
