//! Mails that are joined into one when an address has reached its daily limit.

use std::time::Duration;

use preauth_core::operation::Command;
use preauth_core::value::{MailId, OperationId};
use preauth_server::directory::MailStatus;
use preauth_server::mail::{LeasedMail, MailClaim, MailQueue, Outcome};
use tokio::time::{sleep, timeout};

use crate::store::fixture::Fixture;

use super::{claim_within, command_done, count, end_leases, lease_by, offers_to_one_mailbox};

fn ids(leased: &LeasedMail) -> Vec<MailId> {
    let joined = leased.joined.iter().map(|it| it.id);
    std::iter::once(leased.id).chain(joined).collect()
}

/// The next mail once a search finds it: the clock of the tests stands, so that on a slow machine what is due
/// again lies before where searches begin, until one begins earlier.
async fn lease_soon(queue: &dyn MailQueue, claim: &MailClaim) -> LeasedMail {
    let found = async {
        loop {
            if let Some(leased) = lease_by(queue, claim).await {
                return leased;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_mins(1), found).await.unwrap()
}

async fn operation_of(fixture: &Fixture, mail: MailId) -> OperationId {
    let found = fixture.directory().mail(mail).await.unwrap();
    found.unwrap().operation.unwrap()
}

#[tokio::test]
async fn the_last_mail_of_a_day_takes_along_what_waits_and_all_stay_together() {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    offers_to_one_mailbox(&fixture, payer, 6).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 2, 10_000);
    let first = lease_by(queue, &today).await.unwrap();
    assert_eq!(first.joined, []);
    let sent = Outcome::Sent { at: fixture.now };
    assert!(queue.finish(&first, &sent).await.unwrap());
    let last = lease_by(queue, &today).await.unwrap();
    assert_eq!(ids(&last).len(), 5);
    assert_eq!(lease_by(queue, &today).await, None);
    // The process ends before it records the outcome; meanwhile one of the offers is closed.
    let closed = operation_of(&fixture, last.joined[1].id).await;
    command_done(&fixture, closed, &Command::Cancel).await;
    end_leases(&fixture).await;
    let again = lease_by(queue, &today).await.unwrap();
    let mut left = ids(&last);
    left.remove(2);
    assert_eq!(ids(&again), left);
    assert_eq!(count(&fixture, payer, MailStatus::Canceled).await, 1);
    // They are retried together.
    let (at, error) = (fixture.now, "busy".to_owned());
    let retried = Outcome::RetryAt { at, error };
    assert!(queue.finish(&again, &retried).await.unwrap());
    let retry = lease_by(queue, &today).await.unwrap();
    assert_eq!((ids(&retry), retry.attempts_made), (left, 1));
    let sent = Outcome::Sent { at };
    assert!(queue.finish(&retry, &sent).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, 5);
    // The head office's limit for this mailbox is reached; another head office's is not.
    offers_to_one_mailbox(&fixture, payer, 1).await;
    assert_eq!(lease_by(queue, &today).await, None);
    assert_eq!(count(&fixture, payer, MailStatus::Held).await, 1);
    offers_to_one_mailbox(&fixture, other, 1).await;
    let others = lease_by(queue, &today).await.unwrap();
    assert_eq!((others.head_office, others.joined), (other, Vec::new()));
}

#[tokio::test]
async fn a_joined_mail_goes_on_when_its_first_offer_is_closed() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    offers_to_one_mailbox(&fixture, payer, 4).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 1, 10_000);
    let joined = lease_by(queue, &today).await.unwrap();
    assert_eq!(ids(&joined).len(), 4);
    let closed = operation_of(&fixture, joined.id).await;
    command_done(&fixture, closed, &Command::Cancel).await;
    queue.release(&joined).await.unwrap();
    let rest = lease_by(queue, &today).await.unwrap();
    assert_eq!(ids(&rest), ids(&joined)[1..]);
    let sent = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&joined, &sent).await.unwrap());
    assert!(queue.finish(&rest, &sent).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, 3);
}

#[tokio::test]
async fn a_joined_mail_that_failed_is_sent_again_whole() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    offers_to_one_mailbox(&fixture, payer, 3).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 1, 10_000);
    let joined = lease_by(queue, &today).await.unwrap();
    let (at, error) = (fixture.now, "no such user".to_owned());
    let failed = Outcome::Failed { at, error };
    assert!(queue.finish(&joined, &failed).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Failed).await, 3);
    let resent = fixture.directory().resend_mail(joined.id, fixture.now);
    resent.await.unwrap();
    let again = lease_soon(queue, &today).await;
    assert_eq!(ids(&again), ids(&joined));
    assert!(queue.finish(&again, &failed).await.unwrap());
    // A single remaining offer has a mail of its own.
    let one = joined.joined[0].id;
    let joined_to = async |id| {
        let found = fixture.directory().mail(id).await.unwrap();
        found.unwrap().joined_to
    };
    assert_eq!(joined_to(one).await, Some(joined.id));
    fixture.directory().resend_mail(one, at).await.unwrap();
    assert_eq!(joined_to(one).await, None);
    let alone = lease_soon(queue, &today).await;
    assert_eq!(ids(&alone), [one]);
}
