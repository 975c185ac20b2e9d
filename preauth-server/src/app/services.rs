//! The services of the listeners: both APIs and the supplier's page, with their dependencies.

use std::sync::Arc;

use preauth_core::service::Operations;
use tokio::sync::Semaphore;

use super::Parts;
use crate::directory::Directory;
use crate::feed::Numberer;
use crate::http::integration::{self, EventsOnRequest, IntegrationApi};
use crate::http::openapi::{self, Form};
use crate::http::platform::{OperatorGate, PlatformApi, Vitals};
use crate::http::portal::{self, PortalApi};
use crate::http::{
    self, DESCRIPTION, DESCRIPTION_IN_3_0, Gate, MULTIPART_DESCRIPTION_IN_3_0, RequestsInProgress,
    UnauthenticatedLimiter, WritesUnderWay,
};
use crate::ids::RandomIds;
use crate::secret::{EventCursors, SupplierLinks};
use crate::telemetry::RequestTelemetry;
use crate::telemetry::metrics::Metrics;
use crate::worker::Shutdown;

/// What the integration API needs to answer with events.
pub(super) fn events(
    parts: &Parts,
    numberer: Arc<Numberer>,
    shutdown: Shutdown,
) -> EventsOnRequest {
    EventsOnRequest {
        feed: Arc::clone(&parts.stores.feed),
        numberer,
        cursors: EventCursors::new(&parts.vault),
        reads: Semaphore::new(EventsOnRequest::MAX_READS),
        shutdown,
    }
}

fn telemetry_of(parts: &Parts, metrics: &Metrics) -> RequestTelemetry {
    RequestTelemetry {
        metrics: metrics.requests.clone(),
        traces: parts.traces.clone(),
    }
}

/// The integration API, for the public listener.
pub(super) fn integration(
    parts: &Parts,
    operations: &Arc<Operations>,
    events: EventsOnRequest,
    metrics: &Metrics,
) -> http::Service {
    let clock = || Arc::clone(&parts.clock);
    let access = Arc::clone(&parts.stores.access);
    let api = IntegrationApi {
        operations: Arc::clone(operations),
        queries: Arc::clone(&parts.stores.queries),
        gate: Gate::new(
            access,
            clock(),
            parts.rate_limit.clone(),
            parts.limiter.clone(),
            WritesUnderWay::new(parts.connections.max_connections),
        ),
        in_progress: RequestsInProgress::new(parts.connections.max_connections),
        files: Arc::clone(&parts.files),
        events,
        clock: clock(),
        magic: parts.magic,
        hold: parts.hold.clone(),
    };
    let descriptions = [
        (DESCRIPTION, openapi::integration()),
        (DESCRIPTION_IN_3_0, openapi::integration_in_3_0(Form::Json)),
        (
            MULTIPART_DESCRIPTION_IN_3_0,
            openapi::integration_in_3_0(Form::Multipart),
        ),
    ];
    integration::service(
        api,
        descriptions,
        Arc::new(RandomIds),
        telemetry_of(parts, metrics),
    )
}

/// The platform API and the probes, for the private listener.
pub(super) fn platform(
    parts: &Parts,
    operations: &Arc<Operations>,
    vitals: Arc<dyn Vitals>,
    numberer: Arc<Numberer>,
    metrics: &Metrics,
) -> http::Service {
    let operators = Arc::<dyn Directory>::clone(&parts.stores.directory);
    let api = PlatformApi {
        directory: Arc::clone(&parts.stores.directory),
        operations: Arc::clone(operations),
        queries: Arc::clone(&parts.stores.queries),
        files: Arc::clone(&parts.files),
        vault: parts.vault.clone(),
        hosts: parts.console_hosts.clone(),
        gate: OperatorGate::new(
            Arc::clone(&parts.tokens),
            operators,
            parts.limiter.clone(),
            Arc::clone(&parts.clock),
            parts.hold.clone(),
        ),
        endpoint_validator: parts.endpoint_validator.clone(),
        vitals,
        clock: Arc::clone(&parts.clock),
        time_machine: parts.time_machine.clone(),
        ids: Arc::new(RandomIds),
        hold: parts.hold.clone(),
        numberer,
    };
    http::platform_service(api, openapi::platform(), telemetry_of(parts, metrics))
}

/// The supplier's page, for a public listener of its own.
pub(super) fn portal(
    parts: &Parts,
    links: SupplierLinks,
    limiter: UnauthenticatedLimiter,
    operations: &Arc<Operations>,
    metrics: &Metrics,
) -> http::Service {
    let api = PortalApi {
        links,
        limiter,
        operations: Arc::clone(operations),
        queries: Arc::clone(&parts.stores.queries),
        directory: Arc::clone(&parts.stores.directory),
        clock: Arc::clone(&parts.clock),
        ids: Arc::new(RandomIds),
        hold: parts.hold.clone(),
    };
    portal::service(api, telemetry_of(parts, metrics))
}
