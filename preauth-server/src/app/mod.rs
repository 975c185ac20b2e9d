//! Assembles the server: binds the listeners, starts the loops, stops both.

mod loops;
mod services;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use preauth_core::Policy;
use preauth_core::service::Operations;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{JoinHandle, JoinSet};
use url::Host;

use crate::access::RateLimit;
use crate::clock::TimeMachine;
use crate::clock::{Clock, Stopwatch};
use crate::dispatcher::{EndpointValidator, ExtraRoots, TlsError};
use crate::hold::Hold;
use crate::hold_watch::HoldWatch;
use crate::http::integration::Magic;
use crate::http::platform::Vitals as _;
use crate::http::server::{Bound, ConnectionLimits, Stop};
use crate::http::{UnauthenticatedLimiter, WireRender};
use crate::ids::RandomIds;
use crate::invoice_files::InvoiceFiles;
use crate::janitor::Retention;
use crate::live::Live;
use crate::mail::{Folder, MailParts};
use crate::secret::{OperatorTokens, SupplierLinks, Vault};
use crate::store::{Lifecycle, Stores};
use crate::telemetry::metrics::{CountedMails, CountedOutbox, CountedStore, Metrics};
use crate::telemetry::traces::Traces;
use crate::vitals::ServerVitals;
use crate::worker::{ShutdownTrigger, shutdown};

/// Time for the private listener at the end, when everything else has used up its time.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Maximum time for the loops to end: the dispatcher waits for attempts in progress, then returns
/// their leases, so that another instance need not wait until they expire.
const LOOPS_END: Duration = Duration::from_secs(8);

/// The parts of a server.
pub struct Parts {
    /// The database's ports.
    pub stores: Stores,
    /// The store of invoice files.
    pub files: Arc<InvoiceFiles>,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// Encrypts signing secrets.
    pub vault: Vault,
    /// The accepted operator tokens.
    pub tokens: Arc<OperatorTokens>,
    /// Additional host names of the private listener, besides its address.
    pub console_hosts: Vec<Host>,
    /// Configurable limits of the rules.
    pub policy: Policy,
    /// How long records are kept after their end.
    pub retention: Retention,
    /// Requests per window and key.
    pub rate_limit: Live<RateLimit>,
    /// The limit of requests without a valid key.
    pub limiter: UnauthenticatedLimiter,
    /// The connection limits of each listener, and how its clients are determined.
    pub connections: ConnectionLimits,
    /// The letterhead, limits and transport of mails.
    pub mails: MailParts,
    /// Where mails become files without a mail server.
    pub mail_folder: Folder,
    /// The rules for receivers of webhooks.
    pub endpoint_validator: EndpointValidator,
    /// Trusted certificates of receivers in addition to the platform's roots.
    pub extra_roots: ExtraRoots,
    /// The listener of the integration API.
    pub integration: Bound,
    /// The listener of the platform API and the probes. It is bound before the rest is assembled, because its
    /// address is announced before a probe is answered.
    pub platform: Bound,
    /// The listener of the supplier's page, if there is one.
    pub portal: Option<Portal>,
    /// Moves `clock`; only a sandbox has one.
    pub time_machine: Option<Arc<TimeMachine>>,
    /// The reasons why this instance must not act.
    pub hold: Hold,
    /// Determines those reasons; `None` in a sandbox, whose clock and database are its own.
    pub watch: Option<Arc<HoldWatch>>,
    /// Provokes refusals; only a sandbox has it.
    pub magic: Option<Magic>,
    /// Where traces are sent, if they are.
    pub traces: Option<Traces>,
}

/// The supplier's page, and its listener, which is bound before the rest is assembled: links may carry
/// its address.
#[derive(Debug)]
pub struct Portal {
    /// The listener.
    pub bound: Bound,
    /// Recognizes links. Those in mails are of `mails`.
    pub links: SupplierLinks,
    /// The limit of requests.
    pub limiter: UnauthenticatedLimiter,
}

/// Why a server could not start; each text names the next step.
#[derive(Debug, Error)]
pub enum StartError {
    /// A listener's address cannot be bound.
    #[error("cannot listen on {address}; choose another address (port 0 takes any free one)")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Webhooks cannot be sent.
    #[error("cannot send webhooks; check that the platform's root certificates are installed")]
    Sender(#[from] TlsError),
}

/// A running server.
pub struct Running {
    address: SocketAddr,
    platform_address: SocketAddr,
    portal_address: Option<SocketAddr>,
    /// The public listeners.
    public: Vec<Stop>,
    loops: ShutdownTrigger,
    /// The public listeners and the loops.
    tasks: JoinSet<()>,
    platform: Stop,
    platform_work: JoinHandle<()>,
    operations: Arc<Operations>,
    vitals: Arc<ServerVitals>,
    lifecycle: Arc<dyn Lifecycle>,
    traces: Option<Traces>,
}

/// Starts a server on the current runtime; its listeners answer when this returns.
pub fn start(mut parts: Parts) -> Result<Running, StartError> {
    let (address, platform_address) = (parts.integration.address(), parts.platform.address());
    let metrics = Metrics::new();
    observe(&mut parts.stores, &metrics, parts.traces.as_ref());
    let dispatcher = Arc::new(loops::dispatcher(&parts)?);
    let operations = Arc::new(operations_of(&parts).handing_over_to(dispatcher.intake()));
    let mut tasks = JoinSet::new();
    let (trigger, shutdown) = shutdown();
    let numberer = Arc::new(loops::numberer(&parts));
    let seals = &metrics.audit_log;
    let mut running = loops::start(
        &parts,
        &dispatcher,
        &operations,
        seals,
        &shutdown,
        &mut tasks,
    );
    running.push(loops::start_numberer(&numberer, &shutdown, &mut tasks));
    running.extend(parts.stores.lifecycle.loops());
    let vitals = Arc::new(ServerVitals {
        loops: running,
        end: shutdown.clone(),
        lifecycle: Arc::clone(&parts.stores.lifecycle),
        watch: Arc::clone(&parts.stores.watch),
        endpoints: Arc::clone(&parts.stores.directory),
        outbox: Arc::clone(&parts.stores.outbox),
        mails: Arc::clone(&parts.stores.mails),
        dispatcher,
        waiters: numberer.waiters().clone(),
        clock: Arc::clone(&parts.clock),
        metrics: metrics.clone(),
        file_quota_bytes: parts.files.quota_bytes(),
        hold: parts.hold.clone(),
        serving_clock: parts.watch.as_ref().map(|watch| Arc::clone(&watch.clock)),
    });
    let events = services::events(&parts, Arc::clone(&numberer), shutdown);
    let integration = services::integration(&parts, &operations, events, &metrics);
    let platform = services::platform(&parts, &operations, vitals.clone(), numberer, &metrics);
    let mut listeners = Vec::new();
    let mut portal_address = None;
    if let Some(portal) = parts.portal.take() {
        portal_address = Some(portal.bound.address());
        let service = services::portal(&parts, portal.links, portal.limiter, &operations, &metrics);
        listeners.push((portal.bound, service));
    }
    listeners.push((parts.integration, integration));
    let public = listeners.into_iter().map(|(bound, service)| {
        let (work, stop) = bound.serve(service, parts.connections.clone());
        tasks.spawn(work);
        stop
    });
    let public = public.collect();
    let (work, stop_platform) = parts.platform.serve(platform, parts.connections.clone());
    Ok(Running {
        address,
        platform_address,
        portal_address,
        public,
        loops: trigger,
        tasks,
        platform: stop_platform,
        platform_work: tokio::spawn(work),
        operations,
        vitals,
        lifecycle: parts.stores.lifecycle,
        traces: parts.traces,
    })
}

fn operations_of(parts: &Parts) -> Operations {
    let store = Arc::clone(&parts.stores.store);
    Operations::new(
        store,
        Arc::new(RandomIds),
        Arc::new(WireRender),
        parts.policy,
    )
}

impl Running {
    /// The address of the integration API.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the platform API.
    #[must_use]
    pub const fn platform_address(&self) -> SocketAddr {
        self.platform_address
    }

    /// The address of the supplier's page, if there is one.
    #[must_use]
    pub const fn portal_address(&self) -> Option<SocketAddr> {
        self.portal_address
    }

    /// Why the process should be restarted, if it should (`/livez`).
    #[must_use]
    pub fn stall(&self) -> Option<String> {
        self.vitals.stall().map(|it| it.en)
    }

    /// The use cases that all listeners call.
    #[must_use]
    pub const fn operations(&self) -> &Arc<Operations> {
        &self.operations
    }

    /// Stops the server: there are no new connections, requests and deliveries in progress have
    /// `grace` to end, and accepted writes are finished before the database closes.
    ///
    /// The readiness probe fails from the first moment. The private listener ends last, so that
    /// probes and scrapes are answered while anything is in progress.
    pub async fn stop(mut self, grace: Duration) {
        self.loops.request();
        let stopwatch = Stopwatch::start();
        for listener in &self.public {
            listener.gracefully(grace);
        }
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        // The listeners enforce `grace` themselves.
        let patience = grace.max(LOOPS_END);
        if tokio::time::timeout(patience, ended).await.is_err() {
            tracing::warn!("requests or deliveries were still under way and were cut off");
        }
        let used = stopwatch.elapsed().to_std().unwrap_or_default();
        let left = grace.saturating_sub(used).max(LAST_ANSWERS);
        self.platform.gracefully(left);
        if tokio::time::timeout(left, self.platform_work)
            .await
            .is_err()
        {
            tracing::warn!("requests of the platform were still under way and were cut off");
        }
        self.lifecycle.close().await;
        if let Some(traces) = self.traces {
            traces.stop().await;
        }
    }
}

/// Waits for the signal to end the process. A signal that comes after this call, and before its
/// result is awaited, counts; before the call it kills the process.
pub fn wait_for_signal() -> io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Binds a listener.
pub fn bind(address: SocketAddr) -> Result<Bound, StartError> {
    Bound::bind(address).map_err(|cause| StartError::Listen { address, cause })
}

/// Wraps the database's ports with counters and traces.
fn observe(stores: &mut Stores, metrics: &Metrics, traces: Option<&Traces>) {
    let store = CountedStore::new(
        Arc::clone(&stores.store),
        metrics.commits.clone(),
        traces.cloned(),
    );
    stores.store = Arc::new(store);
    let outbox = CountedOutbox::new(
        Arc::clone(&stores.outbox),
        metrics.deliveries.clone(),
        traces.cloned(),
    );
    stores.outbox = Arc::new(outbox);
    let mails = CountedMails::new(Arc::clone(&stores.mails), metrics.mails.clone());
    stores.mails = Arc::new(mails);
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("listen", &self.integration.address())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
