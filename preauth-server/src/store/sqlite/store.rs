//! The write side: loads in one snapshot, commits through the writer.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, LoadedNewOrder, LoadedOffer, LoadedOperation, LoadedOrder, OfferTarget,
    OrderTarget, PlatformReply, Store, Unavailable,
};
use preauth_core::value::{EventId, IdempotencyKey, OperationId, PaymentOrderId, Timestamp};

use crate::audit_trail;
use crate::store::error::Fault;
use crate::store::sql::{history, platform_replies};

use super::commit::InsertedDeliveries;
use super::offers::NewOffer;
use super::{SqliteStore, commit, load, offers};

/// Maximum number of one caller's commits in the writer's queue: enough to fill a transaction, and
/// the next one.
const MAX_QUEUED: usize = 256;

#[async_trait]
impl Store for SqliteStore {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        let offer = NewOffer {
            target: target.clone(),
            id: self.counters.next_operation()?,
        };
        let found = self.offers.ask(offer.clone()).await;
        match found.map_err(Fault::from)?? {
            Some(found) if found.holder.is_some() => {
                let mut snapshot = self.snapshot().await?;
                Ok(offers::find_held(&mut snapshot, &offer).await?)
            }
            found => Ok(found.map(|found| found.loaded)),
        }
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(load::operation(&mut snapshot, id).await?)
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        let left_out = self.set_aside.left_out(now);
        let (loaded, unreadable) = load::overdue(&mut snapshot, now, limit, &left_out).await?;
        self.set_aside.leave_out(unreadable, now);
        Ok(loaded)
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(load::new_order(&mut snapshot, &self.counters, target).await?)
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(load::order(&mut *snapshot, id).await?)
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(history::has_event(&mut *reader, id).await?)
    }

    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(platform_replies::find(&mut *reader, key).await?)
    }

    async fn commit(&self, mut commit: Commit) -> Result<(), CommitError> {
        self.full_mailboxes.hold(&mut commit);
        let waiting = self.writer.waiting();
        let committed = Arc::clone(&self.committed);
        let is_audited = commit.audited.is_some();
        let written = self.writer.write_then(
            commit,
            |connection, commit| Box::pin(commit::write(connection, commit)),
            Box::new(move |inserted: &mut InsertedDeliveries| {
                committed.notify_one();
                if inserted.hand_over() {
                    waiting.notify_one();
                }
            }),
        );
        written.await?;
        if is_audited {
            audit_trail::note_row();
        }
        Ok(())
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        // The writer takes queued commits together; others find room in its queue.
        let commits = stream::iter(commits).map(|commit| self.commit(commit));
        commits.buffered(MAX_QUEUED).collect().await
    }
}
