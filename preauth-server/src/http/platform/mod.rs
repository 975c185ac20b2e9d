//! The platform API: what companies, suppliers, the bank and the platform's own people do, on the
//! private listener.
//!
//! Everything under [`PREFIX`] stands behind the operator token, checked before anything else. The
//! probes and the metrics stand beside it without one, so that an orchestrator can ask without a
//! secret.

mod announce;
mod api_keys;
mod blocked_suppliers;
mod companies;
mod create;
mod credit_analysis;
mod deliveries;
mod extensions;
mod gate;
mod handshake;
mod hosts;
mod invoices;
mod lookup;
mod master_keys;
mod metrics;
mod notices;
mod operations;
mod paging;
mod party;
mod payment_orders;
mod probes;
mod refusal;
mod resource;
mod routes;
mod sandbox_clock;
mod users;
mod webhook_endpoint;

use std::fmt;
use std::sync::Arc;

use preauth_core::port::{IdSource, Queries, Store};
use preauth_core::service::Service as Operations;
use salvo::Service;
use url::Host;

use crate::clock::Clock;
use crate::directory::Directory;
use crate::dispatcher::Targets;
use crate::hold::Hold;
use crate::http::{DESCRIPTION, description, server};
use crate::invoice_files::InvoiceFiles;
use crate::openapi;
use crate::sandbox::TimeMachine;
use crate::secret::Vault;
use crate::telemetry::metrics::RequestMetrics;

pub use gate::OperatorGate;
pub(crate) use operations::acting;
pub use probes::Vitals;
pub(super) use refusal::Refusal;
pub use routes::routes;

use gate::Unmatched;
use hosts::Hosts;

/// Whether the process lives; asked without the token.
pub const LIVEZ: &str = "/livez";
/// Whether requests can be served; asked without the token.
pub const READYZ: &str = "/readyz";
/// What was counted and measured, for Prometheus; asked without the token.
pub const METRICS: &str = "/metrics";
/// What every path of this API begins with.
pub const PREFIX: &str = "/api/platform/v1";

/// What the endpoints of this API work with.
pub struct PlatformApi {
    /// What the platform's own people keep and look at.
    pub directory: Arc<dyn Directory>,
    /// Where events are committed that report no change of an aggregate.
    pub store: Arc<dyn Store>,
    /// The use cases of operations and payment orders.
    pub operations: Arc<Operations>,
    /// The read side of operations.
    pub queries: Arc<dyn Queries>,
    /// Where files of offers lie.
    pub files: Arc<InvoiceFiles>,
    /// Seals signing secrets.
    pub vault: Vault,
    /// Who may come in.
    pub gate: OperatorGate,
    /// Names under which it is reached, beside its address and this machine's.
    pub hosts: Vec<Host>,
    /// Where webhooks may go.
    pub targets: Targets,
    /// What probes and scrapes are told.
    pub vitals: Arc<dyn Vitals>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// What moves it, in a sandbox; in production there is none, and no route to one.
    pub time_machine: Option<Arc<TimeMachine>>,
    /// Where new ids come from.
    pub ids: Arc<dyn IdSource>,
    /// What keeps this instance from acting.
    pub hold: Hold,
}

/// The platform API as a listener serves it.
#[must_use]
pub fn service(api: PlatformApi, counted: RequestMetrics) -> Service {
    let api = Arc::new(api);
    let (clock, ids) = (Arc::clone(&api.clock), Arc::clone(&api.ids));
    let (gate, hosts) = (api.gate.clone(), Hosts::also(api.hosts.clone()));
    let unguarded = probes::routes(&api.vitals)
        .push(metrics::route(&api.vitals))
        .push(handshake::route(gate.clone()))
        .push(description::route(DESCRIPTION, openapi::platform()));
    let resources = routes::all(api.time_machine.as_ref()).into_iter();
    let router = resources.fold(unguarded, |router, resource| {
        router.push(resource.router(&api))
    });
    server::service(router, "platform", clock, ids, counted)
        .hoop(hosts)
        .hoop(Unmatched(gate))
}

impl fmt::Debug for PlatformApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlatformApi").finish_non_exhaustive()
    }
}
