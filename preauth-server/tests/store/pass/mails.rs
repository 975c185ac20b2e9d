//! The queue of mails.

use preauth_core::operation::Command;
use preauth_core::value::{CompanyId, Email, MailId};
use preauth_server::audit_trail::auditing;
use preauth_server::mail::{Claimed, LeasedMail, MailClaim, Outcome};

use super::request;
use crate::store::fixture::Fixture;
use crate::store::mails::{claim_within, command_done, lease_by};

/// Offers to one mailbox: a mail, and one that takes along the others.
const OFFERS: usize = 4;
const MAILS_PER_DAY: u32 = 2;

/// A claim that puts off nothing.
fn all(fixture: &Fixture) -> MailClaim {
    claim_within(fixture.now, u32::MAX, u32::MAX)
}

async fn lease(fixture: &Fixture, claim: &MailClaim) -> Option<LeasedMail> {
    lease_by(&*fixture.stores.mails, claim).await
}

async fn finish(fixture: &Fixture, leased: &LeasedMail) {
    let sent = Outcome::Sent { at: fixture.now };
    let finished = fixture.stores.mails.finish(leased, &sent).await;
    assert!(finished.unwrap());
}

/// Sends all that is due, but for one mail that is given back first; returns the last.
pub(super) async fn send(fixture: &Fixture) -> MailId {
    let queue = &fixture.stores.mails;
    queue.next_due().await.unwrap();
    let claim = all(fixture);
    let leased = lease(fixture, &claim).await.unwrap();
    queue.release(&leased).await.unwrap();
    let mut last = leased.id;
    while let Some(leased) = lease(fixture, &claim).await {
        finish(fixture, &leased).await;
        last = leased.id;
    }
    last
}

/// A mail fails and is resent, and that of a canceled offer is canceled.
pub(super) async fn resend(fixture: &Fixture, payer: CompanyId, sent: MailId) {
    let (queue, directory, now) = (&fixture.stores.mails, fixture.directory(), fixture.now);
    send(fixture).await;
    fixture.offer(payer).await;
    let at = now;
    let error = "no such user here".to_owned();
    let failed = lease(fixture, &all(fixture)).await.unwrap();
    let outcome = Outcome::Failed { at, error };
    assert!(queue.finish(&failed, &outcome).await.unwrap());
    let resent = directory.resend_mail(failed.id, now);
    let record = format!("notices/{}", failed.id);
    auditing(request(fixture, record), resent).await.unwrap();
    directory.resend_mail(sent, now).await.unwrap_err();
    let recorded = directory.recorded_mails(&[sent]).await.unwrap();
    assert_eq!(recorded.len(), 1);
    let canceled = fixture.offer(payer).await;
    command_done(fixture, canceled.id, &Command::Cancel).await;
    send(fixture).await;
}

async fn offer_to(fixture: &Fixture, payer: CompanyId, mailbox: &str) {
    let mut offer = fixture.new_offer(payer);
    offer.supplier.email = Email::parse(&format!("{mailbox}@example.com")).unwrap();
    fixture.make(&offer).await;
}

/// Sends two mails to a mailbox, of which the second takes along what waits, and puts off those of another day.
pub(super) async fn join(fixture: &Fixture, payer: CompanyId) {
    let claim = claim_within(fixture.now, MAILS_PER_DAY, u32::MAX);
    let mailbox = format!("fin{}", fixture.uuid().simple());
    for _ in 0..OFFERS {
        offer_to(fixture, payer, &mailbox).await;
    }
    for joined in [0, OFFERS - 2] {
        let leased = lease(fixture, &claim).await.unwrap();
        assert_eq!(leased.joined.len(), joined);
        finish(fixture, &leased).await;
    }
    offer_to(fixture, payer, &mailbox).await;
    assert_eq!(lease(fixture, &claim).await, None);
}

/// Puts off the mails to several mailboxes, which are new to a head office that has reached others today.
pub(super) async fn put_off(fixture: &Fixture, payer: CompanyId) {
    for _ in 0..OFFERS {
        let mailbox = format!("new{}", fixture.uuid().simple());
        offer_to(fixture, payer, &mailbox).await;
    }
    let claim = MailClaim {
        limit: u32::try_from(OFFERS).unwrap(),
        ..claim_within(fixture.now, MAILS_PER_DAY, 1)
    };
    let claimed = fixture.stores.mails.claim(&claim).await.unwrap();
    assert_eq!(claimed.len(), OFFERS);
    let mut claimed = claimed.iter();
    assert!(claimed.all(|mail| matches!(mail, Claimed::PutOff)));
}
