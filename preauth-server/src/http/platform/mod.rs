//! The platform API: what companies, suppliers, the bank and the platform's own people do, on the
//! private listener.
//!
//! Everything under [`PREFIX`] stands behind the operator token, judged before anything else. The
//! probes stand beside it without one, so that an orchestrator can ask without a secret.

mod api_keys;
mod blocked_suppliers;
mod companies;
mod credit_analysis;
mod deliveries;
mod gate;
mod known;
mod operations;
mod paging;
mod probes;
mod refusal;
mod resource;
mod sandbox_clock;
mod users;
mod webhook_endpoint;

use std::fmt;
use std::sync::Arc;

use preauth_core::port::{IdSource, Queries};
use preauth_core::service::Service as Operations;
use salvo::{Router, Service};

use crate::clock::Clock;
use crate::directory::Directory;
use crate::dispatcher::TargetPolicy;
use crate::http::server;
use crate::sandbox::TimeMachine;
use crate::secret::{OperatorToken, Vault};

pub(crate) use operations::acting;
pub use probes::Readiness;
pub(super) use refusal::Refusal;

use gate::Unmatched;
use operations::ACTIONS;
use resource::Resource;

/// Whether the process lives; asked without the token.
pub const LIVEZ: &str = "/livez";
/// Whether requests can be served; asked without the token.
pub const READYZ: &str = "/readyz";
/// What every path of this API begins with.
pub const PREFIX: &str = "/api/platform/v1";

/// What the endpoints of this API work with.
pub struct PlatformApi {
    /// Companies, users, keys, endpoints, deliveries.
    pub directory: Arc<dyn Directory>,
    /// The use cases of operations.
    pub operations: Arc<Operations>,
    /// The read side of operations.
    pub queries: Arc<dyn Queries>,
    /// Seals signing secrets.
    pub vault: Vault,
    /// What every caller presents.
    pub token: OperatorToken,
    /// Where webhooks may go.
    pub targets: TargetPolicy,
    /// Whether requests can be served.
    pub readiness: Arc<dyn Readiness>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// What moves it, in a sandbox; in production there is none, and no route to one.
    pub time_machine: Option<Arc<TimeMachine>>,
    /// Where new ids come from.
    pub ids: Arc<dyn IdSource>,
}

/// The platform API as a listener serves it.
#[must_use]
pub fn service(api: PlatformApi) -> Service {
    let api = Arc::new(api);
    let (clock, ids) = (Arc::clone(&api.clock), Arc::clone(&api.ids));
    let token = api.token.clone();
    server::service(routes(&api), "platform", clock, ids).hoop(Unmatched { token })
}

/// Every route of the platform API, and the probes.
fn routes(api: &Arc<PlatformApi>) -> Router {
    let at = |path: &str| Resource::at(path, api);
    let resources = [
        at("companies").get(companies::List).post(companies::Add),
        at("companies/{id}").get(companies::Find),
        at("companies/{id}/credit-analysis")
            .get(credit_analysis::Find)
            .put(credit_analysis::Set),
        at("companies/{id}/blocked-suppliers").get(blocked_suppliers::List),
        at("companies/{id}/blocked-suppliers/{cnpj}")
            .put(blocked_suppliers::Block)
            .delete(blocked_suppliers::Unblock),
        at("companies/{id}/users").get(users::List).post(users::Add),
        at("users/{id}").get(users::Find).patch(users::Update),
        at("companies/{id}/api-keys")
            .get(api_keys::List)
            .post(api_keys::Add),
        at("api-keys/{id}")
            .get(api_keys::Find)
            .delete(api_keys::Revoke),
        at("companies/{id}/webhook-endpoint")
            .get(webhook_endpoint::Find)
            .put(webhook_endpoint::Set)
            .delete(webhook_endpoint::Delete),
        at("companies/{id}/webhook-endpoint/pause").post(webhook_endpoint::PAUSE),
        at("companies/{id}/webhook-endpoint/resume").post(webhook_endpoint::RESUME),
        at("companies/{id}/webhook-endpoint/rotate-secret").post(webhook_endpoint::RotateSecret),
        at("companies/{id}/deliveries").get(deliveries::List),
        at("deliveries/{id}").get(deliveries::Find),
        at("deliveries/{id}/resend").post(deliveries::Resend),
        at("operations").get(operations::List).post(operations::Add),
        at("operations/{id}").get(operations::Find),
    ];
    let actions = ACTIONS
        .iter()
        .map(|action| at(&format!("operations/{{id}}/{}", action.segment)).post(action));
    let time_travel = api
        .time_machine
        .iter()
        .map(|machine| at("sandbox/clock").post(sandbox_clock::Advance(Arc::clone(machine))));
    resources
        .into_iter()
        .chain(actions)
        .chain(time_travel)
        .fold(probes::routes(api), |router, resource| {
            router.push(resource.into())
        })
}

impl fmt::Debug for PlatformApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlatformApi").finish_non_exhaustive()
    }
}
