//! What nobody asks for: the watch, the numbers of events, reports, seals, and removals.

use chrono::TimeDelta;
use preauth_core::operation::Command;
use preauth_core::port::{FeedQuery, Verdict};
use preauth_core::value::{CompanyId, EventType, Timestamp};
use preauth_server::directory::{
    AuditOutcome, Period, ReportQuery, ReportScope, ReportUnit, Sealing,
};
use preauth_server::feed::Look;
use preauth_server::hold::DeploymentId;
use preauth_server::invoice_files::ContentHash;

use super::{Office, STEP, file, request};
use crate::store::deliveries::{claim_one, deliver, fail};
use crate::store::feed::{everything, page};
use crate::store::fixture::Fixture;
use crate::store::mails::command_done;

/// What a scrape and the start page ask, and what an instance asks of its database.
pub(super) async fn watch(fixture: &Fixture, payer: CompanyId) {
    let (stores, now) = (&fixture.stores, fixture.now);
    fixture.offer(payer).await;
    assert!(stores.watch.waiting(now).await.unwrap().due_deliveries > 0);
    stores.watch.deadlines(now).await.unwrap();
    stores.watch.offices_with_files_of(1).await.unwrap();
    fixture.directory().attention(now).await.unwrap();
    stores.lifecycle.check().await.unwrap();
    let moments = stores.lifecycle.moments().await.unwrap();
    assert!(moments.latest_recorded.is_some());
    let id: DeploymentId = "production".parse().unwrap();
    stores.identity.claim(&id, false).await.unwrap();
    stores.identity.adopt(&id, true).await.unwrap();
    assert!(stores.identity.deployment().await.unwrap().is_some());
}

/// Events are numbered, read, counted, reported and sealed.
pub(super) async fn number(fixture: &Fixture, payer: CompanyId) {
    let directory = fixture.directory();
    let look = |since| Look {
        now: fixture.now,
        kept_since: fixture.later(TimeDelta::days(-30)),
        since,
    };
    let numbers = &fixture.stores.numbers;
    let before = numbers.number(look(None)).await.unwrap().upto;
    let operation = fixture.offer(payer).await;
    let numbered = numbers.number(look(Some(before))).await.unwrap();
    assert!(!numbered.head_offices.is_empty());
    let few = FeedQuery {
        limit: 8,
        ..everything(payer)
    };
    let branch = FeedQuery {
        head_office: operation.supplier.head_office,
        company: payer,
        types: vec![EventType::PreAuthorizationCreated],
        ..few.clone()
    };
    page(fixture, &branch).await;
    let read = page(fixture, &few).await;
    let after = Some(read.next);
    page(fixture, &FeedQuery { after, ..few }).await;
    while directory.count_activity().await.unwrap() > 0 {}
    let midnight = Timestamp::parse("2026-11-21T03:00:00.000Z").unwrap();
    let today = Period {
        name: "2026-11-21".to_owned(),
        begin: midnight,
        end: midnight.saturating_add(TimeDelta::days(1)),
    };
    let first = Some(("2026-11-20".to_owned(), CompanyId::new(uuid::Uuid::nil())));
    for scope in [
        ReportScope::Everybody,
        ReportScope::HeadOffice(payer),
        ReportScope::Each {
            after: first,
            limit: STEP,
        },
    ] {
        let query = ReportQuery {
            unit: ReportUnit::Day,
            periods: vec![today.clone()],
            scope,
        };
        assert!(!directory.report(&query).await.unwrap().is_empty());
    }
    let request = request(fixture, "operations/1".to_owned());
    let left = directory.leave_row(request, AuditOutcome::Done).await;
    left.unwrap();
    let sealed = directory.seal(fixture.now, None).await.unwrap();
    let Sealing::Sealed { seal, .. } = sealed else {
        panic!("{sealed:?}");
    };
    let idle = directory.seal(fixture.now, Some(seal)).await.unwrap();
    assert_eq!(idle, Sealing::Nothing(Some(seal)));
}

/// An endpoint fails until it is paused, of which its company is mailed, and recovers.
pub(super) async fn fail_and_recover(fixture: &Fixture) {
    super::deliveries::deliver(fixture).await;
    let Office { payer, .. } = Office::new(fixture).await;
    fixture.offer(payer).await;
    let at = |seconds| fixture.later(TimeDelta::seconds(seconds));
    let house = &fixture.stores.housekeeping;
    for (seconds, pause_endpoint) in [(0, false), (5, false), (65, true)] {
        let leased = claim_one(fixture, at(seconds)).await;
        let wait = Verdict::RetryAt {
            at: at(seconds * 12 + 5),
            pause_endpoint,
        };
        fail(fixture, &leased, wait).await;
        house.notify_of_failing(at(60), STEP).await.unwrap();
    }
    let directory = fixture.directory();
    let resumed = directory.set_endpoint_paused(payer, false, at(900)).await;
    resumed.unwrap();
    let leased = claim_one(fixture, at(900)).await;
    deliver(fixture, &leased, at(900)).await;
    assert!(house.notify_of_failing(at(960), STEP).await.unwrap() > 0);
}

/// Removes what is over.
pub(super) async fn clean(fixture: &Fixture, payer: CompanyId) {
    let (house, files) = (&fixture.stores.housekeeping, &fixture.stores.files);
    let (now, late) = (fixture.now, fixture.later(TimeDelta::days(31)));
    house.settle_endpoints(STEP).await.unwrap();
    house.bring_forward(now, STEP).await.unwrap();
    assert!(house.forget_expired_replies(late, STEP).await.unwrap() > 0);
    house.forget_rate_windows(late, late, STEP).await.unwrap();
    assert!(house.forget_ended_deliveries(late, STEP).await.unwrap() > 0);
    assert!(house.forget_ended_mails(late, STEP).await.unwrap() > 0);
    house.sum_up_counts(STEP).await.unwrap();
    let mut offer = fixture.new_offer(payer);
    offer.file = Some(file(fixture));
    let id = fixture.make(&offer).await.id;
    command_done(fixture, id, &Command::Cancel).await;
    let after = id.get() - 1;
    let step = house.forget_old_files(now, late, after, 1).await.unwrap();
    assert_eq!(step.removed, 1);
    // None of the files is as old: the janitor leaves none that has a name when it searches others.
    let unnamed = ContentHash::from_bytes(file(fixture).sha256);
    files
        .announce_file(unnamed, now, fixture.later(TimeDelta::days(-1)))
        .await
        .unwrap();
    files.settle_files(now, STEP).await.unwrap();
    for file in files
        .claim_unnamed_files(now, now, late, STEP)
        .await
        .unwrap()
    {
        files.forget_file(file).await.unwrap();
    }
    let released = files.release_files(vec![unnamed], late, Some(now)).await;
    released.unwrap();
    house.forget_event_numbers(late, STEP).await.unwrap();
}
