//! The write side: commits fail, conflict, lose their answer, or land late.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, Intake, LoadedNewOrder, LoadedOffer, LoadedOperation, LoadedOrder,
    OfferTarget, OrderTarget, PlatformReply, Store, Unavailable,
};
use preauth_core::value::{EventId, IdempotencyKey, OperationId, PaymentOrderId, Timestamp};

use crate::defect::Defect;
use crate::faults::{Call, Fault};
use crate::history::Fact;

use super::handover::Watched;
use super::lane::LOCK_WAIT_MS;
use super::late::{Trace, Work};
use super::{SimStore, lost, outliving};

#[async_trait]
impl Store for SimStore {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        let ground = self.ground();
        let loaded = self
            .call(Call::LoadOffer, self.database.load_offer(&ground, target))
            .await?;
        if let Some(loaded) = &loaded {
            let id = loaded.context.id.get();
            self.database
                .chronicle
                .note(Fact::Reserved("operation", id));
        }
        Ok(loaded)
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        let ground = self.ground();
        self.call(
            Call::LoadOperation,
            self.database.load_operation(&ground, id),
        )
        .await
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        let ground = self.ground();
        self.call(
            Call::Overdue,
            self.database.load_overdue(&ground, now, limit),
        )
        .await
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable> {
        let ground = self.ground();
        let loaded = self
            .call(Call::LoadOrder, ground.store.load_new_order(target))
            .await?;
        if let Some(loaded) = &loaded {
            let id = loaded.order.get();
            self.database.chronicle.note(Fact::Reserved("order", id));
        }
        Ok(loaded)
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        let store = self.ground().store;
        self.call(Call::LoadOrder, store.load_order(id)).await
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        let ground = self.ground();
        let found = self.call(Call::LookUp, ground.store.has_event(id)).await?;
        if !found {
            let trace = Trace::Event(id);
            self.database.land_after_look_up(&trace).await;
        }
        Ok(found)
    }

    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        let ground = self.ground();
        let found = self
            .call(Call::LoadReply, ground.platform_reply(key))
            .await?;
        if found.is_none() {
            let trace = Trace::Reply(key.clone());
            self.database.land_after_look_up(&trace).await;
        }
        Ok(found)
    }

    async fn commit(&self, mut commit: Commit) -> Result<(), CommitError> {
        let connection = self.database.connection();
        self.database
            .take_id_anew(&self.ground(), &mut commit)
            .await;
        self.database.mistake(&mut commit);
        self.database.send_too_early(&commit);
        let faults = &self.database.faults;
        let fault = faults.meet(self.instance, Call::Commit).await;
        let unknown = || self.database.unknown_outcome();
        match fault {
            Some(Fault::Fails) => return Err(CommitError::NotDone(lost())),
            Some(Fault::FailsUnknown) => return Err(unknown()),
            Some(Fault::Conflicts) => return Err(CommitError::Conflict),
            Some(Fault::StaysLocked) => {
                let stops_all = self.database.has(Defect::LockStopsAll);
                self.database.commits.wait(LOCK_WAIT_MS, stops_all).await;
                return Err(CommitError::Busy(lost()));
            }
            Some(Fault::LandsLate) => {
                self.land_late(Work::Commit(Box::new(commit)), connection);
                return Err(unknown());
            }
            Some(
                Fault::LosesAnswer | Fault::KillsBefore | Fault::KillsAfter | Fault::LosesHandover,
            )
            | None => {}
        }
        self.pass(&self.database.commits).await;
        if self.database.is_cut_off(connection) {
            let instance = self.instance;
            self.database.chronicle.note(Fact::CutOff { instance });
            return Err(unknown());
        }
        let store = self.clone();
        let done = outliving(async move { store.apply(commit).await }).await;
        if done.is_ok() {
            self.wake.notify_one();
        }
        faults.leave(self.instance, fault).await;
        if fault == Some(Fault::LosesAnswer) {
            return Err(unknown());
        }
        done
    }

    /// Each commit meets its own faults: some of a group may be done, and others not.
    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        let mut outcomes = Vec::with_capacity(commits.len());
        for commit in commits {
            outcomes.push(self.commit(commit).await);
        }
        outcomes
    }
}

impl SimStore {
    /// Writes a commit and records it.
    pub(super) async fn apply(&self, mut commit: Commit) -> Result<(), CommitError> {
        let committed = Fact::committed(&commit);
        // No pause may come between a lease and its record.
        let _others_too = self.database.pausing.read().await;
        commit.intake = Intake::new(Arc::new(Watched::new(self.clone(), commit.intake)));
        self.database.write(&self.ground(), commit).await?;
        self.database.chronicle.note(committed);
        Ok(())
    }
}
