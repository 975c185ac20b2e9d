//! The platform API: the actions of companies, suppliers, the bank and the platform's own staff, on
//! the private listener.
//!
//! Every path under [`PREFIX`] requires an operator's token and role, checked before anything else. The
//! probes and the metrics need none, so that an orchestrator can call them without a secret.

pub(crate) mod api_keys;
pub(crate) mod audit_log;
mod audited;
pub(crate) mod blocked_suppliers;
mod body;
pub(crate) mod calling_operator;
pub(crate) mod companies;
mod create;
pub(crate) mod credit_analysis;
pub(crate) mod deliveries;
mod description;
mod endpoint;
pub(crate) mod extensions;
mod gate;
mod handshake;
mod hosts;
pub(crate) mod if_version;
mod in_process;
pub(crate) mod invoices;
mod lookup;
pub(crate) mod mails;
pub(crate) mod master_keys;
mod metrics;
pub(crate) mod operations;
pub(crate) mod operators;
pub(crate) mod overview;
mod paging;
pub(crate) mod party;
mod paths;
pub(crate) mod payment_orders;
pub(crate) mod personal_data;
mod probes;
pub(crate) mod reason;
mod refusal;
pub(crate) mod reports;
pub(crate) mod resend_range;
mod resource;
mod routes;
mod sandbox_clock;
mod sections;
pub(crate) mod suppressed_addresses;
pub(crate) mod users;
pub(crate) mod webhook_endpoint;

use std::fmt;
use std::sync::Arc;

use preauth_core::port::{IdSource, Queries};
use preauth_core::service::Operations;
use salvo::{Handler, Router, Service};
use url::Host;

use crate::clock::Clock;
use crate::clock::TimeMachine;
use crate::directory::Directory;
use crate::dispatcher::EndpointValidator;
use crate::feed::Numberer;
use crate::hold::Hold;
use crate::http::{DESCRIPTION, description as descriptions, server};
use crate::invoice_files::InvoiceFiles;
use crate::secret::Vault;
use crate::telemetry::RequestTelemetry;

pub(super) use calling_operator::CallingOperator;
pub(super) use description::document;
pub use gate::OperatorGate;
pub(super) use in_process::{Call, InProcess, OnBehalf};
pub(crate) use paging::Listed;
pub use paths::{LIVEZ, METRICS, PREFIX, READYZ};
pub(in crate::http) use probes::unreadiness;
pub use probes::{Trouble, Vitals};
pub(super) use refusal::Refusal;
pub use routes::routes;

use gate::Unmatched;
use hosts::Hosts;

/// The dependencies of the endpoints.
pub struct PlatformApi {
    /// The records of the platform's own staff.
    pub directory: Arc<dyn Directory>,
    /// The use cases of operations and payment orders.
    pub operations: Arc<Operations>,
    /// The read side of operations.
    pub queries: Arc<dyn Queries>,
    /// The store of offers' files.
    pub files: Arc<InvoiceFiles>,
    /// Encrypts signing secrets.
    pub vault: Vault,
    /// Checks the operator token.
    pub gate: OperatorGate,
    /// Additional host names, besides its address and this machine's.
    pub hosts: Vec<Host>,
    /// The rules for webhook addresses.
    pub endpoint_validator: EndpointValidator,
    /// The source of the answers to probes and of the metrics.
    pub vitals: Arc<dyn Vitals>,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// Moves the clock in a sandbox; `None` in production, which has no such route.
    pub time_machine: Option<Arc<TimeMachine>>,
    /// The source of new ids.
    pub ids: Arc<dyn IdSource>,
    /// Prevents this instance from acting.
    pub hold: Hold,
    /// Numbers the events that reports count.
    pub numberer: Arc<Numberer>,
}

/// The platform API as a listener serves it, with its description, and other routes beside it; `unanswered` is a
/// layer that may answer what no route did.
#[must_use]
pub(super) fn service(
    api: &Arc<PlatformApi>,
    description: String,
    telemetry: RequestTelemetry,
    others: Router,
    unanswered: impl Handler,
) -> Service {
    let (clock, ids) = (Arc::clone(&api.clock), Arc::clone(&api.ids));
    let (gate, hosts) = (api.gate.clone(), Hosts::also(api.hosts.clone()));
    let unguarded = probes::routes(&api.vitals)
        .push(metrics::route(&api.vitals))
        .push(handshake::route(gate.clone()))
        .push(descriptions::route(DESCRIPTION, description))
        .push(others);
    let resources = routes::all(api.time_machine.as_ref()).into_iter();
    let router = resources.fold(unguarded, |router, resource| {
        router.push(resource.router(api))
    });
    server::service_with_layer(router, unanswered, "platform", clock, ids, telemetry)
        .hoop(hosts)
        .hoop(Unmatched(gate))
}

impl fmt::Debug for PlatformApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlatformApi").finish_non_exhaustive()
    }
}
