//! A host in memory whose next calls fail on demand.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use preauth_core::memory::MemoryStore;
use preauth_core::operation::Operation;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, Filter, HistoryEntry, LoadedNewOrder, LoadedOffer, LoadedOperation,
    LoadedOrder, OfferTarget, OperationPage, OrderTarget, PageRequest, PlatformReply, Queries,
    Store, Unavailable, Viewer,
};
use preauth_core::value::{EventId, IdempotencyKey, OperationId, PaymentOrderId, Timestamp};

/// The outcome of one commit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    NotDone,
    /// The host has no room for it.
    Busy,
    Conflict,
    InProgress,
    /// Written, but the answer is lost.
    UnknownApplied,
    /// Not written, and the answer is lost.
    UnknownNotApplied,
    /// The answer is lost, and it is written later: after the next look-up.
    UnknownAppliedLate,
    /// The answer is lost, and it is written later: right before the next commit.
    UnknownAppliedBeforeNext,
    /// The answer is lost, and it is written later: right after the next commit, if that leaves
    /// room for it.
    UnknownAppliedAfterNext,
}

/// Work of others at a certain moment.
pub(crate) type Meanwhile =
    Box<dyn FnOnce(Arc<MemoryStore>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

pub(crate) struct Faulty {
    pub(crate) inner: Arc<MemoryStore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    faults: VecDeque<Fault>,
    /// From now on every commit fails so.
    storm: Option<Fault>,
    commits: u32,
    /// How many reads fail before they work again, from the next lost answer on.
    blind_reads_after_unknown: u32,
    blind_reads: u32,
    late: Option<Commit>,
    before_next: Option<Commit>,
    after_next: Option<Commit>,
    meanwhile: Option<Meanwhile>,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<MemoryStore>) -> Self {
        Self {
            inner,
            state: Mutex::default(),
        }
    }

    /// The next commits fail so, one after the other.
    pub(crate) fn fail(&self, faults: &[Fault]) {
        self.state.lock().unwrap().faults.extend(faults);
    }

    /// Every commit fails so.
    pub(crate) fn storm(&self, fault: Fault) {
        self.state.lock().unwrap().storm = Some(fault);
    }

    /// Number of reads that fail after the next lost answer.
    pub(crate) fn blind_after_unknown(&self, reads: u32) {
        self.state.lock().unwrap().blind_reads_after_unknown = reads;
    }

    /// Number of reads that fail from now on.
    pub(crate) fn blind(&self, reads: u32) {
        self.state.lock().unwrap().blind_reads = reads;
    }

    /// Others do this once the next answer is lost.
    pub(crate) fn after_unknown(&self, meanwhile: Meanwhile) {
        self.state.lock().unwrap().meanwhile = Some(meanwhile);
    }

    pub(crate) fn commits(&self) -> u32 {
        self.state.lock().unwrap().commits
    }

    fn read(&self) -> Result<(), Unavailable> {
        let mut state = self.state.lock().unwrap();
        if state.blind_reads == 0 {
            return Ok(());
        }
        state.blind_reads = state.blind_reads.saturating_sub(1);
        Err(Unavailable { cause: lost() })
    }

    /// Writes what was held back; called after a read, so that the read did not see it.
    async fn land(&self) {
        let late = self.state.lock().unwrap().late.take();
        if let Some(commit) = late {
            self.inner.commit(commit).await.unwrap();
        }
    }

    fn next_fault(&self) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        state.commits = state.commits.saturating_add(1);
        let fault = state.faults.pop_front().or(state.storm);
        if let Some(Fault::UnknownApplied | Fault::UnknownNotApplied) = fault {
            state.blind_reads = std::mem::take(&mut state.blind_reads_after_unknown);
        }
        fault
    }
}

fn lost() -> Box<dyn std::error::Error + Send + Sync> {
    "the connection is closed".into()
}

#[async_trait]
impl Store for Faulty {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        self.read()?;
        self.inner.load_offer(target).await
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        self.read()?;
        let loaded = self.inner.load_operation(id).await;
        self.land().await;
        loaded
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        self.read()?;
        self.inner.load_overdue(now, limit).await
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable> {
        self.read()?;
        self.inner.load_new_order(target).await
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        self.read()?;
        self.inner.load_order(id).await
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        self.read()?;
        let found = self.inner.has_event(id).await;
        self.land().await;
        found
    }

    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        self.read()?;
        self.inner.load_platform_reply(key).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let (before, after) = {
            let mut state = self.state.lock().unwrap();
            (state.before_next.take(), state.after_next.take())
        };
        if let Some(before) = before {
            self.inner.commit(before).await.unwrap();
        }
        let done = self.commit_once(commit).await;
        if let Some(after) = after {
            // Whether there is room for it is what the test is about.
            let _ = self.inner.commit(after).await;
        }
        if let Err(CommitError::Unknown(_)) = done {
            let meanwhile = self.state.lock().unwrap().meanwhile.take();
            if let Some(meanwhile) = meanwhile {
                meanwhile(Arc::clone(&self.inner)).await;
            }
        }
        done
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        let mut outcomes = Vec::with_capacity(commits.len());
        for commit in commits {
            outcomes.push(self.commit(commit).await);
        }
        outcomes
    }
}

impl Faulty {
    async fn commit_once(&self, commit: Commit) -> Result<(), CommitError> {
        match self.next_fault() {
            None => self.inner.commit(commit).await,
            Some(Fault::NotDone) => Err(CommitError::NotDone(lost())),
            Some(Fault::Busy) => Err(CommitError::Busy(lost())),
            Some(Fault::Conflict) => Err(CommitError::Conflict),
            Some(Fault::InProgress) => Err(CommitError::InProgress),
            Some(Fault::UnknownNotApplied) => Err(CommitError::Unknown(lost())),
            Some(Fault::UnknownApplied) => {
                self.inner.commit(commit).await?;
                Err(CommitError::Unknown(lost()))
            }
            Some(Fault::UnknownAppliedLate) => {
                self.state.lock().unwrap().late = Some(commit);
                Err(CommitError::Unknown(lost()))
            }
            Some(Fault::UnknownAppliedBeforeNext) => {
                self.state.lock().unwrap().before_next = Some(commit);
                Err(CommitError::Unknown(lost()))
            }
            Some(Fault::UnknownAppliedAfterNext) => {
                self.state.lock().unwrap().after_next = Some(commit);
                Err(CommitError::Unknown(lost()))
            }
        }
    }
}

#[async_trait]
impl Queries for Faulty {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        self.inner.find(viewer, id).await
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        self.inner.list(viewer, filter, page).await
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        self.read()?;
        self.inner.history(id).await
    }
}
