//! The queue of mails: leases, the share of an address, and what is shown of it.

use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::operation::{Actor, Command};
use preauth_core::port::{NoticeKind, Viewer};
use preauth_core::value::{CompanyId, NoticeId, OperationId, Timestamp};
use preauth_server::directory::{DirectoryError, NoticeFilter, NoticeStatus};
use preauth_server::notices::{
    Claimed, DailyShare, LeasedNotice, NoticeClaim, NoticeQueue, Outcome,
};
use tokio::task::JoinSet;

use crate::fixture::{FIRST_PAGE, Fixture};

const SHARE: u32 = 20;

fn claim(now: Timestamp) -> NoticeClaim {
    NoticeClaim {
        now,
        lease: TimeDelta::minutes(2),
        share: DailyShare::on_the_day_of(now, NonZeroU32::new(SHARE).unwrap()),
    }
}

/// A queue with so many mails to one address.
async fn staged(fixture: &Fixture, mails: u32) -> CompanyId {
    let payer = fixture.payer().await;
    for _ in 0..mails {
        fixture.offer(payer).await;
    }
    payer
}

/// Leases the next mail, past what is put off; `None` when nothing is due.
async fn lease(queue: &dyn NoticeQueue, now: Timestamp) -> Option<LeasedNotice> {
    loop {
        match queue.claim(&claim(now)).await.unwrap() {
            Claimed::Nothing => return None,
            Claimed::PutOff | Claimed::Canceled { .. } => {}
            Claimed::Leased(leased) => return Some(*leased),
        }
    }
}

/// Brings the end of every lease forward.
async fn end_leases(fixture: &Fixture) {
    let sql = "UPDATE notices SET leased_until = 1 WHERE leased_until IS NOT NULL";
    sqlx::query(sql).execute(&fixture.sql).await.unwrap();
}

async fn count(fixture: &Fixture, company: CompanyId, status: NoticeStatus) -> u64 {
    let filter = NoticeFilter {
        status: Some(status),
        ..NoticeFilter::default()
    };
    let listed = fixture.directory().notices(company, filter, FIRST_PAGE);
    listed.await.unwrap().total
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_address_gets_exactly_its_share_however_many_claim_at_once() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, SHARE + 10).await;
    let mut lanes = JoinSet::new();
    for lane in 0..8 {
        let (queue, now) = (Arc::clone(&fixture.stores.notices), fixture.now);
        lanes.spawn(async move {
            let mut sent: u32 = 0;
            while let Some(leased) = lease(&*queue, now).await {
                // One in eight fails first, and gives its place back.
                let outcome = if lane == 0 && leased.attempts_made == 0 {
                    let error = "greylisted".to_owned();
                    Outcome::RetryAt { at: now, error }
                } else {
                    sent += 1;
                    Outcome::Sent { at: now }
                };
                assert!(queue.finish(&leased, &outcome).await.unwrap());
            }
            sent
        });
    }
    let sent: u32 = lanes.join_all().await.into_iter().sum();
    // Whoever was put off behind mails under way has its turn when these have failed.
    let soon = fixture.later(claim(fixture.now).lease);
    let queue = &*fixture.stores.notices;
    let mut late = 0;
    while let Some(leased) = lease(queue, soon).await {
        let outcome = Outcome::Sent { at: soon };
        assert!(queue.finish(&leased, &outcome).await.unwrap());
        late += 1;
    }
    assert_eq!(sent + late, SHARE);
    assert_eq!(
        count(&fixture, payer, NoticeStatus::Sent).await,
        u64::from(SHARE)
    );
    assert_eq!(count(&fixture, payer, NoticeStatus::Held).await, 10);
    let tomorrow = claim(soon).share.ends;
    assert_eq!(queue.next_due().await.unwrap(), Some(tomorrow));
    assert!(lease(queue, tomorrow).await.is_some());
}

#[tokio::test]
async fn the_holder_of_an_old_lease_changes_nothing() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 1).await;
    let queue = &*fixture.stores.notices;
    let old = lease(queue, fixture.now).await.unwrap();
    assert_eq!(lease(queue, fixture.now).await, None);
    assert_eq!(queue.next_due().await.unwrap(), None);
    end_leases(&fixture).await;
    let new = lease(queue, fixture.now).await.unwrap();
    assert_eq!(old.id, new.id);
    let outcome = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&old, &outcome).await.unwrap());
    queue.release(&old).await.unwrap();
    assert_eq!(count(&fixture, payer, NoticeStatus::Pending).await, 1);
    assert!(queue.finish(&new, &outcome).await.unwrap());
    assert!(!queue.finish(&new, &outcome).await.unwrap());
    assert_eq!(count(&fixture, payer, NoticeStatus::Sent).await, 1);
}

#[tokio::test]
async fn a_mail_whose_lease_ran_out_keeps_its_place_in_the_share() {
    let fixture = Fixture::new().await;
    staged(&fixture, SHARE + 1).await;
    let queue = &*fixture.stores.notices;
    for _ in 0..SHARE {
        assert!(lease(queue, fixture.now).await.is_some());
    }
    assert_eq!(lease(queue, fixture.now).await, None);
    // Nobody knows whether these were sent: they are given out again, and no other.
    end_leases(&fixture).await;
    let mut again = 0;
    while lease(queue, fixture.now).await.is_some() {
        again += 1;
    }
    assert_eq!(again, SHARE);
}

#[tokio::test]
async fn a_mail_is_shown_with_how_it_fared() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 2).await;
    let queue = &*fixture.stores.notices;
    let leased = lease(queue, fixture.now).await.unwrap();
    let shown = || async {
        let found = fixture.directory().notice(leased.id).await.unwrap();
        found.unwrap()
    };
    let staged = shown().await;
    assert_eq!(
        (staged.kind, staged.company),
        (NoticeKind::Invitation, payer)
    );
    assert_eq!(staged.created_at, fixture.now);
    let (at, error) = (fixture.later(TimeDelta::seconds(5)), "busy".to_owned());
    let outcome = Outcome::RetryAt { at, error };
    assert!(queue.finish(&leased, &outcome).await.unwrap());
    let waiting = shown().await;
    assert_eq!(waiting.status, NoticeStatus::Pending);
    assert_eq!(
        (waiting.attempts_made, waiting.next_attempt_at),
        (1, Some(at))
    );
    assert_eq!(waiting.last_error.as_deref(), Some("busy"));
    let filter = NoticeFilter {
        operation: waiting.operation,
        ..NoticeFilter::default()
    };
    let listed = fixture.directory().notices(payer, filter, FIRST_PAGE);
    assert_eq!(listed.await.unwrap().items, [waiting]);
    let stranger = fixture.payer().await;
    let all = NoticeFilter::default();
    let listed = fixture.directory().notices(stranger, all, FIRST_PAGE);
    assert_eq!(listed.await.unwrap().total, 0);
}

#[tokio::test]
async fn a_failed_mail_is_due_again_with_a_fresh_schedule_and_no_other_is() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 1).await;
    let queue = &*fixture.stores.notices;
    let resend = async |id| {
        let at = fixture.later(TimeDelta::hours(1));
        fixture.directory().resend_notice(id, at).await
    };
    let leased = lease(queue, fixture.now).await.unwrap();
    let refused = resend(leased.id).await;
    assert!(matches!(refused, Err(DirectoryError::Conflict)), "leased");
    let (at, error) = (fixture.now, "no such user".to_owned());
    let failed = Outcome::Failed { at, error };
    assert!(queue.finish(&leased, &failed).await.unwrap());
    resend(leased.id).await.unwrap();
    let shown = fixture.directory().notice(leased.id).await.unwrap();
    let shown = shown.unwrap();
    assert_eq!(shown.status, NoticeStatus::Pending);
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
    let missing = resend(NoticeId::new(fixture.uuid())).await;
    assert!(matches!(missing, Err(DirectoryError::NotFound)));
    assert_eq!(count(&fixture, payer, NoticeStatus::Sent).await, 1);
}

#[tokio::test]
async fn a_mail_whose_offer_ended_meanwhile_is_canceled_and_takes_nobodys_place() {
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
    let queue = &*fixture.stores.notices;
    for _ in 0..SHARE {
        let leased = lease(queue, fixture.now).await.unwrap();
        let outcome = Outcome::Sent { at: fixture.now };
        assert!(queue.finish(&leased, &outcome).await.unwrap());
    }
    assert_eq!(lease(queue, fixture.now).await, None);
    let filter = NoticeFilter {
        status: Some(NoticeStatus::Canceled),
        ..NoticeFilter::default()
    };
    let listed = fixture.directory().notices(payer, filter, FIRST_PAGE);
    let mut canceled: Vec<_> = listed.await.unwrap().items;
    canceled.sort_by_key(|notice| notice.operation);
    let of: Vec<_> = canceled.iter().filter_map(|it| it.operation).collect();
    assert_eq!(of, ended);
    for notice in &canceled {
        assert_eq!((notice.attempts_made, notice.next_attempt_at), (0, None));
        assert_eq!(notice.ended_at, Some(fixture.now));
        let resent = fixture.directory().resend_notice(notice.id, fixture.now);
        assert!(matches!(resent.await, Err(DirectoryError::Conflict)));
    }
}

#[tokio::test]
async fn an_offer_that_has_expired_is_not_told_before_its_expiry_is_recorded_either() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let offer = fixture.offer(payer).await;
    let queue = &*fixture.stores.notices;
    let end = offer.expires_at.unwrap();
    let leased = lease(queue, end).await.unwrap();
    queue.release(&leased).await.unwrap();
    let after = end.saturating_add(TimeDelta::milliseconds(1));
    let claimed = queue.claim(&claim(after)).await.unwrap();
    let (id, kind) = (leased.id, leased.kind);
    assert_eq!(claimed, Claimed::Canceled { id, kind });
    assert_eq!(queue.claim(&claim(after)).await.unwrap(), Claimed::Nothing);
}

#[tokio::test]
async fn whoever_held_a_mail_that_was_canceled_cannot_finish_it() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let offer = fixture.offer(payer).await;
    let queue = &*fixture.stores.notices;
    let old = lease(queue, fixture.now).await.unwrap();
    command_done(&fixture, offer.id, &Command::Cancel).await;
    end_leases(&fixture).await;
    assert_eq!(lease(queue, fixture.now).await, None);
    let sent = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&old, &sent).await.unwrap());
    assert_eq!(count(&fixture, payer, NoticeStatus::Canceled).await, 1);
}

async fn command_done(fixture: &Fixture, operation: OperationId, command: &Command) {
    let (viewer, actor) = (Viewer::Platform, Actor::Platform);
    let done = fixture
        .service
        .command(viewer, operation, command, actor, fixture.now);
    done.await.unwrap();
}

#[tokio::test]
async fn mails_go_when_they_ended_long_ago_and_those_that_wait_stay() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 3).await;
    let queue = &*fixture.stores.notices;
    let (at, error) = (fixture.now, "no such user".to_owned());
    for outcome in [Outcome::Sent { at }, Outcome::Failed { at, error }] {
        let leased = lease(queue, fixture.now).await.unwrap();
        assert!(queue.finish(&leased, &outcome).await.unwrap());
    }
    let housekeeping = &fixture.stores.housekeeping;
    let later = fixture.later(TimeDelta::milliseconds(1));
    let forget = |before, limit| housekeeping.forget_ended_notices(before, limit);
    assert_eq!(forget(fixture.now, 10).await.unwrap(), 0);
    assert_eq!(forget(later, 1).await.unwrap(), 1);
    assert_eq!(forget(later, 10).await.unwrap(), 1);
    assert_eq!(count(&fixture, payer, NoticeStatus::Pending).await, 1);
}
