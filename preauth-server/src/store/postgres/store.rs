//! The write side: loads in one snapshot, commits through the writer.

use std::time::Duration;

use async_trait::async_trait;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, LoadedNewOrder, LoadedOffer, LoadedOperation, LoadedOrder, OfferTarget,
    OrderTarget, PlatformReply, Store, Unavailable,
};
use preauth_core::value::{EventId, IdempotencyKey, OperationId, PaymentOrderId, Timestamp};
use tokio::time::sleep;

use crate::audit_trail;
use crate::store::error::{Fault, WriteError};
use crate::store::sql::{history, platform_replies};

use super::operations::OverdueSearch;
use super::writer::Turn;
use super::{PostgresStore, load, offers};

/// Pause before a caller that found its key in progress may retry: about as long as a commit takes.
const PAUSE_BEFORE_NEXT_TRY: Duration = Duration::from_millis(25);

#[async_trait]
impl Store for PostgresStore {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        let found = self.offers.ask(target.clone()).await;
        match found.map_err(Fault::from)?? {
            Some(found) if found.holder.is_some() => {
                let loaded = self.read_snapshot(target, |connection, target| {
                    Box::pin(offers::find_held(connection, target))
                });
                Ok(loaded.await?)
            }
            found => Ok(found.map(|found| found.loaded)),
        }
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        let loaded = self.read_snapshot(&id, |connection, id| {
            Box::pin(load::operation(connection, *id))
        });
        Ok(loaded.await?)
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        let look = self.fronts.offers.look();
        let search = OverdueSearch {
            now,
            limit,
            from: look.from,
            left_out: self.set_aside.left_out(now),
            held: self.held_offices.present(),
        };
        let loaded = self.read_snapshot(&search, |connection, search| {
            Box::pin(load::overdue(connection, search))
        });
        let (loaded, unreadable) = loaded.await?;
        let first = loaded
            .first()
            .map_or(Some(now), |it| it.operation.expires_at);
        // Offers that are skipped for now may come before the first one, so the front must not pass them.
        let first = first.filter(|_| search.held.is_empty() && unreadable.is_empty());
        let offers = &self.fronts.offers;
        offers.note(look, first.map(Timestamp::unix_millis));
        self.set_aside.leave_out(unreadable, now);
        Ok(loaded)
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable> {
        let loaded = self.read_snapshot(target, |connection, target| {
            Box::pin(load::new_order(connection, target))
        });
        Ok(loaded.await?)
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        let loaded =
            self.read_snapshot(&id, |connection, id| Box::pin(load::order(connection, *id)));
        Ok(loaded.await?)
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        let found = self.read(&id, |connection, id| {
            Box::pin(history::has_event(connection, *id))
        });
        Ok(found.await?)
    }

    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        let found = self.read(key, |connection, key| {
            Box::pin(platform_replies::find(connection, key))
        });
        Ok(found.await?)
    }

    async fn commit(&self, mut commit: Commit) -> Result<(), CommitError> {
        self.full_mailboxes.hold(&mut commit);
        let is_audited = commit.audited.is_some();
        let turn = self.writer.ask(commit).await.map_err(WriteError::from)?;
        let written = match turn {
            Turn::Ended(written) => written,
            Turn::Locked(commit) => self.aside.write(commit).await,
        };
        if let Err(WriteError::InProgress) = written {
            sleep(PAUSE_BEFORE_NEXT_TRY).await;
        }
        written?;
        if is_audited {
            audit_trail::note_row();
        }
        Ok(())
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        let offices: Vec<_> = commits.iter().map(|it| it.write.head_office()).collect();
        match self.bulk_writer.ask(commits).await {
            Ok(turns) => {
                let are_locked = turns.iter().map(|it| matches!(it, Turn::Locked(_)));
                self.held_offices.note(offices.into_iter().zip(are_locked));
                let ended = turns.into_iter().map(Turn::or_conflict);
                ended.map(|it| it.map_err(CommitError::from)).collect()
            }
            Err(error) => std::iter::repeat_with(|| Err(WriteError::from(error).into()))
                .take(offices.len())
                .collect(),
        }
    }
}
