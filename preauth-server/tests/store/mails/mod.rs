//! The mail queue, and what its tests share.

pub(crate) mod claims;
mod joined;
mod outcomes;
mod recording;
mod share;

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::operation::{Actor, Command};
use preauth_core::port::Viewer;
use preauth_core::value::{CompanyId, Email, OperationId, Timestamp};
use preauth_server::directory::{MailFilter, MailStatus};
use preauth_server::mail::{Claimed, DailyShare, LeasedMail, MailClaim, MailLimits, MailQueue};

use crate::store::fixture::{FIRST_PAGE, Fixture};

const SHARE: u32 = 20;

pub(crate) fn claim(now: Timestamp) -> MailClaim {
    claim_within(now, SHARE, 10_000)
}

/// A claim with these limits per head office: mails to a mailbox per day, and new mailboxes per
/// day.
pub(crate) fn claim_within(now: Timestamp, per_head_office: u32, new_mailboxes: u32) -> MailClaim {
    let limits = MailLimits {
        per_mailbox: NonZeroU32::new(100).unwrap(),
        per_head_office: NonZeroU32::new(per_head_office).unwrap(),
        new_mailboxes: NonZeroU32::new(new_mailboxes).unwrap(),
    };
    MailClaim {
        now,
        lease: TimeDelta::minutes(2),
        limit: 1,
        share: DailyShare::on_the_day_of(now, limits),
    }
}

/// A queue with `mails` mails to one address.
async fn staged(fixture: &Fixture, mails: u32) -> CompanyId {
    let payer = fixture.payer().await;
    for _ in 0..mails {
        fixture.offer(payer).await;
    }
    payer
}

/// Leases the next mail, skipping those put off; `None` when nothing is due.
async fn lease(queue: &dyn MailQueue, now: Timestamp) -> Option<LeasedMail> {
    lease_by(queue, &claim(now)).await
}

pub(crate) async fn lease_by(queue: &dyn MailQueue, claim: &MailClaim) -> Option<LeasedMail> {
    loop {
        match queue.claim(claim).await.unwrap().pop()? {
            Claimed::PutOff | Claimed::Canceled { .. } => {}
            Claimed::Leased(leased) => return Some(*leased),
        }
    }
}

/// Expires every lease.
async fn end_leases(fixture: &Fixture) {
    let sql = "UPDATE notices SET leased_until = 1 WHERE leased_until IS NOT NULL";
    sqlx::query(sql).execute(&fixture.sql).await.unwrap();
}

async fn count(fixture: &Fixture, company: CompanyId, status: MailStatus) -> u64 {
    let filter = MailFilter {
        status: Some(status),
        ..MailFilter::default()
    };
    let listed = fixture.directory().mails(Some(company), filter, FIRST_PAGE);
    listed.await.unwrap().total
}

/// Offers of one head office to one mailbox, with different spellings of its address.
async fn offers_to_one_mailbox(fixture: &Fixture, payer: CompanyId, offers: u32) {
    let addresses = ["fin@example.com", "FIN+x@Example.com", "fin+y@example.com"];
    for (_, address) in (0..offers).zip(addresses.into_iter().cycle()) {
        let mut offer = fixture.new_offer(payer);
        offer.supplier.email = Email::parse(address).unwrap();
        let offered = fixture
            .service
            .offer(&offer, Actor::Company, None, fixture.now);
        offered.await.unwrap();
    }
}

/// All mails that one claim leases.
async fn lease_several(queue: &dyn MailQueue, claim: &MailClaim) -> Option<Vec<LeasedMail>> {
    let claimed = queue.claim(claim).await.unwrap();
    (!claimed.is_empty()).then(|| {
        let leased = claimed.into_iter().filter_map(|mail| match mail {
            Claimed::Leased(leased) => Some(*leased),
            Claimed::PutOff | Claimed::Canceled { .. } => None,
        });
        leased.collect()
    })
}

pub(crate) async fn command_done(fixture: &Fixture, operation: OperationId, command: &Command) {
    let (viewer, actor) = (Viewer::Platform, Actor::Platform);
    let done = fixture
        .service
        .command(viewer, operation, command, actor, fixture.now);
    done.await.unwrap();
}
