//! Rows that this build cannot decode, because a newer build wrote them or they are damaged, are
//! set aside; all others are processed.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::{Claim, Filter, Leased, Viewer};
use preauth_core::value::{CompanyId, Status, Timestamp};
use preauth_server::directory::{DeliveryFilter, MailFilter};
use preauth_server::mail::{Claimed, DailyShare, MailClaim, MailLimits};
use sqlx::AssertSqlSafe;

use crate::store::fixture::{FIRST_PAGE, Fixture};

/// An invalid count of attempts: larger than this build can represent.
const TOO_MANY: &str = "attempts_made = 5000000000";
const LIMIT: u32 = 8;

fn claim(now: Timestamp) -> Claim {
    Claim {
        now,
        lease: TimeDelta::minutes(1),
        limit: LIMIT,
        slow_limit: LIMIT,
        per_endpoint: NonZeroU32::new(LIMIT).unwrap(),
        per_slow_endpoint: NonZeroU32::new(LIMIT).unwrap(),
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::new(LIMIT).unwrap(),
    }
}

/// A company with an endpoint and `deliveries` deliveries to it.
async fn company_with_deliveries(fixture: &Fixture, deliveries: u32) -> CompanyId {
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    for _ in 0..deliveries {
        fixture.offer(payer).await;
    }
    payer
}

/// Writes directly to the database, as another build would.
async fn write(fixture: &Fixture, sql: String) {
    let done = sqlx::query(AssertSqlSafe(sql)).execute(&fixture.sql).await;
    assert!(done.unwrap().rows_affected() > 0);
}

async fn leased(fixture: &Fixture, now: Timestamp) -> Vec<Leased> {
    fixture
        .stores
        .outbox
        .claim(&claim(now))
        .await
        .unwrap()
        .leased
}

#[tokio::test]
async fn an_event_of_an_unknown_type_is_delivered_as_it_stands() {
    let fixture = Fixture::new().await;
    let company = company_with_deliveries(&fixture, 2).await;
    for (table, column) in [("events", "type"), ("deliveries", "event_type")] {
        let sql = format!("UPDATE {table} SET {column} = 'anticipation.hologram'");
        write(&fixture, sql).await;
    }
    let leased = leased(&fixture, fixture.now).await;
    assert_eq!(leased.len(), 2);
    assert!(
        leased
            .iter()
            .all(|it| it.event_type == "anticipation.hologram")
    );
    let filter = DeliveryFilter::default();
    let listed = fixture
        .directory()
        .deliveries(Some(company), filter, FIRST_PAGE, fixture.now);
    let listed = listed.await.unwrap().items;
    assert_eq!(listed.len(), 2);
    assert!(
        listed
            .iter()
            .all(|it| it.event_type == "anticipation.hologram")
    );
    assert_eq!(fixture.stores.watch.set_aside(), []);
}

#[tokio::test]
async fn deliveries_that_cannot_be_read_keep_no_place_from_others() {
    let fixture = Fixture::new().await;
    company_with_deliveries(&fixture, 3 * LIMIT).await;
    write(&fixture, format!("UPDATE deliveries SET {TOO_MANY}")).await;
    let company = fixture.payer().await;
    let endpoint = fixture.add_endpoint(company).await;
    fixture.offer(company).await;
    let first = leased(&fixture, fixture.now).await;
    assert_eq!(first.len(), 1, "the other company's");
    assert_eq!(first[0].endpoint, endpoint.id);
    assert_eq!(leased(&fixture, fixture.now).await, []);
    let aside = u64::from(3 * LIMIT);
    assert_eq!(fixture.stores.watch.set_aside(), [("deliveries", aside)]);
    // Nothing is lost: once the row is repaired, or read by a build that can decode it, it is due
    // again.
    write(
        &fixture,
        "UPDATE deliveries SET attempts_made = 0".to_owned(),
    )
    .await;
    let later = fixture.later(TimeDelta::minutes(11));
    assert_eq!(leased(&fixture, later).await.len(), 8);
}

#[tokio::test]
async fn a_list_with_a_row_that_cannot_be_read_shows_the_others() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    let operations = [fixture.offer(payer).await, fixture.offer(payer).await];
    let broken = operations[0].id;
    write(
        &fixture,
        format!("UPDATE operations SET due_date = '2026-99-99' WHERE id = {broken}"),
    )
    .await;
    write(
        &fixture,
        format!("UPDATE notices SET recipient = 'nobody' WHERE operation_id = {broken}"),
    )
    .await;
    let filter = Filter {
        external_reference: None,
        statuses: Vec::new(),
    };
    let viewer = Viewer::HeadOffice(payer);
    let listed = fixture
        .stores
        .queries
        .list(viewer, &filter, FIRST_PAGE)
        .await
        .unwrap();
    let ids: Vec<_> = listed.operations.iter().map(|it| it.id).collect();
    assert_eq!((ids, listed.total), (vec![operations[1].id], 2));
    let mails = fixture
        .directory()
        .mails(Some(payer), MailFilter::default(), FIRST_PAGE);
    assert_eq!(mails.await.unwrap().items.len(), 1);
    let aside = [("notices", 1), ("operations", 1)];
    assert_eq!(fixture.stores.watch.set_aside(), aside);
    // The read of that operation fails; it is not reported as missing.
    assert!(fixture.stores.queries.find(viewer, broken).await.is_err());
}

#[tokio::test]
async fn an_overdue_offer_that_cannot_be_read_keeps_no_other_from_expiring() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let broken = fixture.offer(payer).await.id;
    let sound = fixture.offer(payer).await.id;
    write(
        &fixture,
        format!("UPDATE operations SET due_date = '2026-99-99' WHERE id = {broken}"),
    )
    .await;
    let late = fixture.later(TimeDelta::days(31));
    // One at a time: the first claim finds only the damaged one.
    assert_eq!(
        fixture
            .service
            .expire_overdue(late, 1)
            .await
            .unwrap()
            .expired
            .len(),
        0
    );
    let swept = fixture.service.expire_overdue(late, 1).await.unwrap();
    assert_eq!(swept.expired[0].operation.id, sound);
    assert_eq!(fixture.stores.watch.set_aside(), [("operations", 1)]);
    write(
        &fixture,
        format!("UPDATE operations SET due_date = '2027-01-20' WHERE id = {broken}"),
    )
    .await;
    let later = late.saturating_add(TimeDelta::minutes(11));
    fixture.service.expire_overdue(later, 1).await.unwrap();
    let expired = fixture.stores.queries.find(Viewer::Platform, broken).await;
    assert_eq!(expired.unwrap().unwrap().status(), Status::Reproved);
}

#[tokio::test]
async fn a_mail_that_cannot_be_read_keeps_no_other_from_being_sent() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let broken = fixture.offer(payer).await.id;
    fixture.offer(payer).await;
    write(
        &fixture,
        format!("UPDATE notices SET recipient = 'nobody' WHERE operation_id = {broken}"),
    )
    .await;
    let queue = &*fixture.stores.mails;
    let claim = |now| MailClaim {
        now,
        lease: TimeDelta::minutes(2),
        limit: 1,
        share: DailyShare::on_the_day_of(now, MailLimits::default()),
    };
    let mut leased = 0;
    while let Some(claimed) = queue.claim(&claim(fixture.now)).await.unwrap().pop() {
        match claimed {
            Claimed::Leased(_) => leased += 1,
            Claimed::PutOff | Claimed::Canceled { .. } => {}
        }
    }
    assert_eq!(leased, 1);
    assert_eq!(fixture.stores.watch.set_aside(), [("notices", 1)]);
    let recipient = "UPDATE notices SET recipient = 'fin@example.com'".to_owned();
    write(&fixture, recipient).await;
    let later = fixture.later(TimeDelta::minutes(11));
    let again = queue.claim(&claim(later)).await.unwrap();
    assert!(matches!(&again[..], [Claimed::Leased(_)]), "{again:?}");
}

#[tokio::test]
async fn an_endpoint_with_unknown_event_types_gets_the_known_ones() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    let more = "UPDATE endpoints SET events = events || ',anticipation.hologram'".to_owned();
    write(&fixture, more).await;
    fixture.offer(payer).await;
    assert_eq!(leased(&fixture, fixture.now).await.len(), 1);
}

#[tokio::test]
async fn an_event_at_no_possible_moment_keeps_no_server_from_starting() {
    let fixture = Fixture::new().await;
    company_with_deliveries(&fixture, 1).await;
    write(&fixture, format!("UPDATE events SET at = {}", i64::MAX)).await;
    let moments = fixture.stores.lifecycle.moments().await.unwrap();
    assert_eq!(moments.latest_recorded, None);
}
