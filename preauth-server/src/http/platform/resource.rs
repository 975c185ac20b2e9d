//! A path of the platform API and what its methods do.

use std::sync::Arc;

use salvo::http::{Request, Response};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::reply::Reply;

use super::{PREFIX, PlatformApi, gate};

/// What one method of one path does.
#[async_trait]
pub(super) trait Endpoint: Clone + Send + Sync + 'static {
    /// Extract, convert, one call, convert.
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError>;
}

/// A path under the prefix, with the endpoints of its methods.
pub(super) struct Resource<'a> {
    router: Router,
    api: &'a Arc<PlatformApi>,
}

impl<'a> Resource<'a> {
    pub(super) fn at(path: &str, api: &'a Arc<PlatformApi>) -> Self {
        let router = Router::with_path(format!("{PREFIX}/{path}"));
        Self { router, api }
    }

    /// HEAD answers like GET.
    pub(super) fn get(self, endpoint: impl Endpoint) -> Self {
        self.add(Router::get, endpoint.clone())
            .add(Router::head, endpoint)
    }

    pub(super) fn post(self, endpoint: impl Endpoint) -> Self {
        self.add(Router::post, endpoint)
    }

    pub(super) fn put(self, endpoint: impl Endpoint) -> Self {
        self.add(Router::put, endpoint)
    }

    pub(super) fn patch(self, endpoint: impl Endpoint) -> Self {
        self.add(Router::patch, endpoint)
    }

    pub(super) fn delete(self, endpoint: impl Endpoint) -> Self {
        self.add(Router::delete, endpoint)
    }

    fn add<E: Endpoint>(self, method: fn(Router, Guarded<E>) -> Router, endpoint: E) -> Self {
        let api = Arc::clone(self.api);
        Self {
            router: method(self.router, Guarded { api, endpoint }),
            api: self.api,
        }
    }
}

impl From<Resource<'_>> for Router {
    fn from(resource: Resource<'_>) -> Self {
        resource.router
    }
}

/// An endpoint behind the operator token: there is no way to route one without it.
struct Guarded<E> {
    api: Arc<PlatformApi>,
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
        let outcome = match gate::judge(&self.api.token, req) {
            Ok(()) => handler::run(self.endpoint.answer(&self.api, req)).await,
            Err(refusal) => Err(refusal),
        };
        handler::settle(outcome, depot).write(res);
    }
}
