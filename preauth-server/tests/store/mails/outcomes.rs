//! The outcomes of mails: recorded, shown, resent, canceled, and removed.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::operation::Command;
use preauth_core::port::MailKind;
use preauth_core::value::{MailId, Timestamp};
use preauth_server::clock::Clock;
use preauth_server::directory::{DirectoryError, MailFilter, MailStatus};
use preauth_server::janitor::{Janitor, Retention};
use preauth_server::mail::{Cancellation, Claimed, Outcome};

use crate::store::fixture::{FIRST_PAGE, Fixture};

use super::{SHARE, claim, command_done, count, end_leases, lease, staged};

#[tokio::test]
async fn the_holder_of_an_old_lease_changes_nothing() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 1).await;
    let queue = &*fixture.stores.mails;
    let old = lease(queue, fixture.now).await.unwrap();
    assert_eq!(lease(queue, fixture.now).await, None);
    assert_eq!(queue.next_due().await.unwrap(), None);
    end_leases(&fixture).await;
    let new = lease(queue, fixture.now).await.unwrap();
    assert_eq!(old.id, new.id);
    let outcome = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&old, &outcome).await.unwrap());
    queue.release(&old).await.unwrap();
    assert_eq!(count(&fixture, payer, MailStatus::Pending).await, 1);
    assert!(queue.finish(&new, &outcome).await.unwrap());
    assert!(!queue.finish(&new, &outcome).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, 1);
}

#[tokio::test]
async fn a_mail_is_shown_with_how_it_fared() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 2).await;
    let queue = &*fixture.stores.mails;
    let leased = lease(queue, fixture.now).await.unwrap();
    let shown = || async {
        let found = fixture.directory().mail(leased.id).await.unwrap();
        found.unwrap()
    };
    let staged = shown().await;
    assert_eq!((staged.kind, staged.company), (MailKind::Invitation, payer));
    assert_eq!(staged.created_at, fixture.now);
    let (at, error) = (fixture.later(TimeDelta::seconds(5)), "busy".to_owned());
    let outcome = Outcome::RetryAt { at, error };
    assert!(queue.finish(&leased, &outcome).await.unwrap());
    let waiting = shown().await;
    assert_eq!(waiting.status, MailStatus::Pending);
    assert_eq!(
        (waiting.attempts_made, waiting.next_attempt_at),
        (1, Some(at))
    );
    assert_eq!(waiting.last_error.as_deref(), Some("busy"));
    let filter = MailFilter {
        operation: waiting.operation,
        ..MailFilter::default()
    };
    let listed = fixture.directory().mails(Some(payer), filter, FIRST_PAGE);
    assert_eq!(listed.await.unwrap().items, [waiting]);
    let stranger = fixture.payer().await;
    let all = MailFilter::default();
    let listed = fixture.directory().mails(Some(stranger), all, FIRST_PAGE);
    assert_eq!(listed.await.unwrap().total, 0);
}

#[tokio::test]
async fn a_failed_mail_is_due_again_with_a_fresh_schedule_and_no_other_is() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 1).await;
    let queue = &*fixture.stores.mails;
    let resend = async |id| {
        let at = fixture.later(TimeDelta::hours(1));
        fixture.directory().resend_mail(id, at).await
    };
    let leased = lease(queue, fixture.now).await.unwrap();
    let refused = resend(leased.id).await;
    assert!(matches!(refused, Err(DirectoryError::Conflict)), "leased");
    let (at, error) = (fixture.now, "no such user".to_owned());
    let failed = Outcome::Failed { at, error };
    assert!(queue.finish(&leased, &failed).await.unwrap());
    resend(leased.id).await.unwrap();
    let shown = fixture.directory().mail(leased.id).await.unwrap();
    let shown = shown.unwrap();
    assert_eq!(shown.status, MailStatus::Pending);
    assert_eq!((shown.attempts_made, shown.ended_at), (0, None));
    assert_eq!(
        shown.last_error.as_deref(),
        Some("no such user"),
        "why it failed is seen until it is tried"
    );
    let later = fixture.later(TimeDelta::hours(1));
    assert_eq!(shown.next_attempt_at, Some(later));
    assert!(
        !queue.finish(&leased, &failed).await.unwrap(),
        "its lease is over"
    );
    let again = lease(queue, later).await.unwrap();
    assert_eq!((again.id, again.attempts_made), (leased.id, 0));
    let sent = Outcome::Sent { at: later };
    assert!(queue.finish(&again, &sent).await.unwrap());
    let refused = resend(leased.id).await;
    assert!(matches!(refused, Err(DirectoryError::Conflict)), "sent");
    let missing = resend(MailId::new(fixture.uuid())).await;
    assert!(matches!(missing, Err(DirectoryError::NotFound)));
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, 1);
}

#[tokio::test]
async fn mail_of_a_closed_offer_is_cancelled_and_takes_no_place() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let mut ended = Vec::new();
    for command in [
        Command::Cancel,
        Command::Decline { reason: None },
        Command::Request,
    ] {
        let offer = fixture.offer(payer).await;
        command_done(&fixture, offer.id, &command).await;
        ended.push(offer.id);
    }
    for _ in 0..SHARE {
        fixture.offer(payer).await;
    }
    let queue = &*fixture.stores.mails;
    for _ in 0..SHARE {
        let leased = lease(queue, fixture.now).await.unwrap();
        let outcome = Outcome::Sent { at: fixture.now };
        assert!(queue.finish(&leased, &outcome).await.unwrap());
    }
    assert_eq!(lease(queue, fixture.now).await, None);
    let filter = MailFilter {
        status: Some(MailStatus::Canceled),
        ..MailFilter::default()
    };
    let listed = fixture.directory().mails(Some(payer), filter, FIRST_PAGE);
    let mut canceled: Vec<_> = listed.await.unwrap().items;
    canceled.sort_by_key(|mail| mail.operation);
    let of: Vec<_> = canceled.iter().filter_map(|it| it.operation).collect();
    assert_eq!(of, ended);
    for mail in &canceled {
        assert_eq!((mail.attempts_made, mail.next_attempt_at), (0, None));
        assert_eq!(mail.ended_at, Some(fixture.now));
        let resent = fixture.directory().resend_mail(mail.id, fixture.now);
        assert!(matches!(resent.await, Err(DirectoryError::Conflict)));
    }
}

#[tokio::test]
async fn mail_of_an_expired_offer_is_cancelled_before_its_expiry_is_recorded() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let offer = fixture.offer(payer).await;
    let queue = &*fixture.stores.mails;
    let end = offer.expires_at.unwrap();
    let leased = lease(queue, end).await.unwrap();
    queue.release(&leased).await.unwrap();
    let after = end.saturating_add(TimeDelta::milliseconds(1));
    let claimed = queue.claim(&claim(after)).await.unwrap();
    let (id, kind) = (leased.id, leased.kind);
    let reason = Cancellation::OfferClosed;
    assert_eq!(claimed, [Claimed::Canceled { id, kind, reason }]);
    assert_eq!(queue.claim(&claim(after)).await.unwrap(), []);
}

#[tokio::test]
async fn the_holder_of_a_cancelled_mail_cannot_finish_it() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let offer = fixture.offer(payer).await;
    let queue = &*fixture.stores.mails;
    let old = lease(queue, fixture.now).await.unwrap();
    command_done(&fixture, offer.id, &Command::Cancel).await;
    end_leases(&fixture).await;
    assert_eq!(lease(queue, fixture.now).await, None);
    let sent = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&old, &sent).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Canceled).await, 1);
}

#[tokio::test]
async fn mails_finished_long_ago_are_removed_and_pending_ones_stay() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 3).await;
    let queue = &*fixture.stores.mails;
    let (at, error) = (fixture.now, "no such user".to_owned());
    for outcome in [Outcome::Sent { at }, Outcome::Failed { at, error }] {
        let leased = lease(queue, fixture.now).await.unwrap();
        assert!(queue.finish(&leased, &outcome).await.unwrap());
    }
    let housekeeping = &fixture.stores.housekeeping;
    let later = fixture.later(TimeDelta::milliseconds(1));
    let forget = |before, limit| housekeeping.forget_ended_mails(before, limit);
    assert_eq!(forget(fixture.now, 10).await.unwrap(), 0);
    assert_eq!(forget(later, 1).await.unwrap(), 1);
    assert_eq!(forget(later, 10).await.unwrap(), 1);
    assert_eq!(count(&fixture, payer, MailStatus::Pending).await, 1);
}

struct Standing(Timestamp);

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        self.0
    }
}

#[tokio::test]
async fn a_mail_goes_when_it_is_older_than_the_retention_and_not_before() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 1).await;
    let queue = &*fixture.stores.mails;
    let leased = lease(queue, fixture.now).await.unwrap();
    let sent = Outcome::Sent { at: fixture.now };
    assert!(queue.finish(&leased, &sent).await.unwrap());
    let (week, moment) = (TimeDelta::days(7), TimeDelta::milliseconds(1));
    for (kept, age, left) in [
        (None, TimeDelta::days(20), 1),
        (Some(week), week, 1),
        (Some(week), week + moment, 0),
    ] {
        let retention = Retention {
            mails: kept,
            ..Retention::default()
        };
        let clock = Arc::new(Standing(fixture.later(age)));
        let house = Arc::clone(&fixture.stores.housekeeping);
        let janitor = Janitor::new(house, clock, retention);
        janitor.run_once().await.unwrap();
        let found = count(&fixture, payer, MailStatus::Sent).await;
        assert_eq!(found, left, "{kept:?} after {age}");
    }
}

#[tokio::test]
async fn those_of_many_mails_that_have_a_record_are_found() {
    let fixture = Fixture::new().await;
    staged(&fixture, 2).await;
    let queue = &*fixture.stores.mails;
    let [first, second] = [
        lease(queue, fixture.now).await,
        lease(queue, fixture.now).await,
    ];
    let staged = [first.unwrap().id, second.unwrap().id];
    let ids = [staged[0], MailId::new(fixture.uuid()), staged[1]];
    let directory = fixture.directory();
    let found = directory.recorded_mails(&ids).await.unwrap();
    assert_eq!(found, staged.into_iter().collect());
    let none = directory.recorded_mails(&[]).await.unwrap();
    assert!(none.is_empty());
}
