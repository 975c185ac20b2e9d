//! Counts commits, and traces them, as a decorator of their port.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, LoadedNewOrder, LoadedOffer, LoadedOperation, LoadedOrder, OfferTarget,
    OrderTarget, PlatformReply, Store, Unavailable, Write,
};
use preauth_core::value::{
    EventId, EventType, IdempotencyKey, OperationId, PaymentOrderId, Timestamp,
};
use prometheus::{HistogramVec, IntCounterVec};

use crate::clock::Stopwatch;
use crate::telemetry::traces::{TracedCommit, Traces};

use super::family::{Families, seconds};

const WRITES: [&str; 6] = [
    "new_operation",
    "operation",
    "new_order",
    "order",
    "new_invoice",
    "nothing",
];
const OUTCOMES: [&str; 6] = [
    "ok",
    "conflict",
    "in_progress",
    "not_done",
    "busy",
    "unknown",
];

/// Counts commits and their events.
#[derive(Clone, Debug)]
pub struct CommitMetrics {
    commits: IntCounterVec,
    durations: HistogramVec,
    events: IntCounterVec,
}

impl CommitMetrics {
    pub(super) fn new(families: &Families<'_>) -> Self {
        let metrics = Self {
            commits: families.counters(
                "preauth_commits_total",
                "Commits, by what they write and how they end. A new operation's that ends with \
                 conflict or not_done sends its offer round again.",
                &["write", "outcome"],
            ),
            durations: families.durations(
                "preauth_commit_duration_seconds",
                "Time that a single commit takes, waiting for its turn included.",
                &["write"],
            ),
            events: families.counters(
                "preauth_events_recorded_total",
                "Events recorded by commits, by type; pre_authorization.expired are expirations.",
                &["type"],
            ),
        };
        for write in WRITES {
            let _ = metrics.durations.with_label_values(&[write]);
            for outcome in OUTCOMES {
                let _ = metrics.commits.with_label_values(&[write, outcome]);
            }
        }
        for event_type in EventType::ALL {
            let _ = metrics.events.with_label_values(&[event_type.as_str()]);
        }
        metrics
    }

    fn count(&self, write: &str, event_type: EventType, committed: &Result<(), CommitError>) {
        self.commits
            .with_label_values(&[write, outcome(committed)])
            .inc();
        if committed.is_ok() {
            self.events.with_label_values(&[event_type.as_str()]).inc();
        }
    }
}

/// A store whose commits are counted, and traced if traces are sent.
pub struct CountedStore {
    inner: Arc<dyn Store>,
    metrics: CommitMetrics,
    traces: Option<Traces>,
}

impl CountedStore {
    /// Counts the commits through `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, metrics: CommitMetrics, traces: Option<Traces>) -> Self {
        Self {
            inner,
            metrics,
            traces,
        }
    }

    fn begin(&self, commit: &Commit) -> Option<TracedCommit> {
        self.traces
            .as_ref()
            .map(|traces| traces.begin_commit(commit))
    }
}

#[async_trait]
impl Store for CountedStore {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        self.inner.load_offer(target).await
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        self.inner.load_operation(id).await
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        self.inner.load_overdue(now, limit).await
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable> {
        self.inner.load_new_order(target).await
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        self.inner.load_order(id).await
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        self.inner.has_event(id).await
    }

    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        self.inner.load_platform_reply(key).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let (write, event_type) = (label(&commit.write), commit.event.event_type);
        let traced = self.begin(&commit);
        let stopwatch = Stopwatch::start();
        let committed = self.inner.commit(commit).await;
        self.metrics
            .durations
            .with_label_values(&[write])
            .observe(seconds(stopwatch.elapsed()));
        self.metrics.count(write, event_type, &committed);
        if let Some(traced) = traced {
            traced.end(committed.is_ok(), outcome(&committed));
        }
        committed
    }

    /// Counted but not timed: the long duration of bulk commits would hide all others.
    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        let kinds: Vec<_> = commits
            .iter()
            .map(|commit| {
                let traced = self.begin(commit);
                (label(&commit.write), commit.event.event_type, traced)
            })
            .collect();
        let outcomes = self.inner.commit_all(commits).await;
        for ((write, event_type, traced), committed) in kinds.into_iter().zip(&outcomes) {
            self.metrics.count(write, event_type, committed);
            if let Some(traced) = traced {
                traced.end(committed.is_ok(), outcome(committed));
            }
        }
        outcomes
    }
}

const fn label(write: &Write) -> &'static str {
    match write {
        Write::NewOperation(_) => "new_operation",
        Write::Operation { .. } => "operation",
        Write::NewOrder { .. } => "new_order",
        Write::Order(_) => "order",
        Write::NewInvoice(_) => "new_invoice",
        Write::EventOnly { .. } => "nothing",
    }
}

const fn outcome(committed: &Result<(), CommitError>) -> &'static str {
    match committed {
        Ok(()) => "ok",
        Err(CommitError::Conflict) => "conflict",
        Err(CommitError::InProgress) => "in_progress",
        Err(CommitError::NotDone(_)) => "not_done",
        Err(CommitError::Busy(_)) => "busy",
        Err(CommitError::Unknown(_)) => "unknown",
    }
}

impl fmt::Debug for CountedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountedStore").finish_non_exhaustive()
    }
}
