//! The sender's side. Due times are the service's; leases end by PostgreSQL's own clock, the same
//! for every instance.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use sqlx::PgConnection;

use super::super::PostgresStore;
use super::super::held::until_free;
use super::super::session;
use super::due::{self, DueMails};
use crate::live::Live;
use crate::mail::{Claimed, LeasedMail, MailClaim, MailLimits, MailQueue, Outcome};
use crate::store::error::{WriteError, unavailable};
use crate::store::full_mailboxes::FullMailboxes;
use crate::store::set_aside::Unreadable;
use crate::store::sql::mails::{self, FinishedMail};

#[async_trait]
impl MailQueue for PostgresStore {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        // The database's lock admits one claim at a time; a claim that waits here needs no connection.
        let _turn = self.due_mails.turn().await;
        let input = (
            *claim,
            Arc::clone(&self.due_mails),
            Arc::clone(&self.full_mailboxes),
        );
        let claimed = session::write(&self.mails, BEGIN, input, |connection, input| {
            let (claim, due, full) = input;
            Box::pin(self::claim(connection, claim, due, full))
        });
        let claimed = claimed.await;
        if claimed.is_err() {
            // The claim failed: the mails removed from the list are still due.
            self.due_mails.look_everywhere();
        }
        let (claimed, unreadable) = claimed.map_err(unavailable)?;
        self.set_aside.note(unreadable);
        Ok(claimed)
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        let finished = FinishedMail::new(leased, outcome);
        until_free(|| self.mail_finisher.ask(finished.clone())).await
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        let lease = (leased.id, leased.token);
        self.write_relaxed(lease, |connection, lease| {
            Box::pin(mails::release(connection, lease))
        })
        .await?;
        self.due_mails.look_everywhere();
        Ok(())
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        let due = session::read(&self.mails, &self.due_mails, |connection, due| {
            Box::pin(due::next_due(connection, due))
        });
        Ok(due.await?)
    }

    fn follow(&self, limits: &Live<MailLimits>) {
        self.full_mailboxes.follow(limits.clone());
    }
}

/// Begins a transaction in which leases are taken. They are on disk before a mail is sent: their holder may outlive a crash of
/// the database.
///
/// Instances take turns, so that they count each other's leases. The lock's number is arbitrary but
/// the same in every instance. The statements after it see the leases that the instance before took.
///
/// An instance that freezes or is disconnected within the transaction would keep the lock from all
/// others, so the database soon ends the transaction.
const BEGIN: &str = "BEGIN;
     SET LOCAL idle_in_transaction_session_timeout = '2s';
     SELECT pg_advisory_xact_lock(8102650148849739778)";

async fn claim(
    connection: &mut PgConnection,
    claim: &MailClaim,
    due: &DueMails,
    full: &FullMailboxes,
) -> Result<(Vec<Claimed>, Vec<Unreadable>), WriteError> {
    let mails = due::next(connection, claim, due).await?;
    let (mut claimed, mut unreadable) = (Vec::with_capacity(mails.len()), Vec::new());
    for step in mails::claim(connection, &mails, claim, full).await? {
        due.forget(&step.postponed);
        if step.frees_others {
            due.look_everywhere();
        }
        claimed.push(step.claimed);
        unreadable.extend(step.unreadable);
    }
    Ok((claimed, unreadable))
}
