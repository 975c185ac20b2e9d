//! Events on request while transactions are in progress, with several instances, and after a restore.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use preauth_core::port::{FeedAnswer, FeedQuery};
use preauth_core::value::CompanyId;
use tokio::task::JoinSet;

use crate::store::feed::{everything, number, page, read, request, texts};
use crate::store::fixture::Fixture;

/// Makes events in the order of a test's own transactions: copies of the payer's first one.
const COPY: &str =
    "INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, body)
     SELECT gen_random_uuid(), head_office_id, operation_id, version + $1, type, at, 'COMPANY', $2
     FROM events WHERE head_office_id = $3 AND version = 1";

async fn copy(transaction: &mut sqlx::PgConnection, version: i64, body: &str, payer: CompanyId) {
    sqlx::query(COPY)
        .bind(version)
        .bind(body)
        .bind(*payer.as_uuid())
        .execute(transaction)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_event_that_is_committed_late_is_passed_by_nobody_and_delays_nobody() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let operation = fixture.offer(payer).await;
    let created = format!("pre_authorization.created of {}", operation.id);
    // A transaction of somebody else holds up nobody either.
    let mut foreign = fixture.sql.begin().await.unwrap();
    sqlx::query("SELECT txid_current()")
        .execute(&mut *foreign)
        .await
        .unwrap();
    let mut late = fixture.sql.begin().await.unwrap();
    copy(&mut late, 1, "late", payer).await;
    // Each pool of a test has two connections.
    let more = fixture.database.sql().await;
    let mut lost = more.begin().await.unwrap();
    copy(&mut lost, 2, "lost", payer).await;
    let mut early = more.begin().await.unwrap();
    copy(&mut early, 3, "early", payer).await;
    early.commit().await.unwrap();
    let first = page(&fixture, &everything(payer)).await;
    assert_eq!(texts(&first), [&*created, "early"]);
    lost.rollback().await.unwrap();
    let after = FeedQuery {
        after: Some(first.next),
        ..everything(payer)
    };
    assert_eq!(page(&fixture, &after).await.events, []);
    late.commit().await.unwrap();
    let mut closing = more.begin().await.unwrap();
    copy(&mut closing, 4, "last", payer).await;
    closing.commit().await.unwrap();
    assert_eq!(texts(&page(&fixture, &after).await), ["late", "last"]);
    let all = page(&fixture, &everything(payer)).await;
    assert_eq!(texts(&all), [&*created, "early", "late", "last"]);
    foreign.rollback().await.unwrap();
    let again = page(&fixture, &everything(payer)).await;
    assert_eq!(again, all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_beside_many_instances_skip_nothing_and_keep_the_order() {
    let first = Arc::new(Fixture::new().await);
    let second = Arc::new(Fixture::on(&first.database, 2).await);
    let payer = first.payer().await;
    let mut work = JoinSet::new();
    for n in 0..24 {
        let fixture = Arc::clone(if n % 2 == 0 { &first } else { &second });
        work.spawn(async move {
            for _ in 0..8 {
                let operation = fixture.offer(payer).await;
                request(&fixture, &operation).await;
            }
        });
    }
    // Both number at once, and each is read with a cursor of its own.
    let mut readers = JoinSet::new();
    for fixture in [&first, &second] {
        let fixture = Arc::clone(fixture);
        readers.spawn(async move {
            let mut query = FeedQuery {
                limit: 7,
                ..everything(payer)
            };
            let mut seen = Vec::new();
            while seen.len() < 24 * 8 * 2 {
                let page = page(&fixture, &query).await;
                seen.extend(page.events.into_iter().map(|event| event.body));
                query.after = Some(page.next);
            }
            seen
        });
    }
    work.join_all().await;
    let seen = tokio::time::timeout(Duration::from_mins(2), readers.join_all()).await;
    let seen = seen.expect("events were skipped");
    assert_eq!(seen[0], seen[1]);
    let mut created = BTreeSet::new();
    for text in &seen[0] {
        if let Some(id) = text.strip_prefix("pre_authorization.created of ") {
            assert!(created.insert(id.to_owned()), "{id} twice");
        } else {
            let id = text.strip_prefix("anticipation.requested of ").unwrap();
            assert!(created.contains(id), "{id} was requested first");
        }
    }
    assert_eq!(created.len(), 24 * 8);
}

/// A batch of another instance without events, which began before those that come now.
const ANOTHERS: &str =
    "INSERT INTO event_batches (number, numbered_at, after_event, last_event, next_xid, pending,
         head_offices, place)
     SELECT number + 1, numbered_at, last_event, last_event, next_xid, pending, '{}',
         split_part(place, '/', 1) || '/' || split_part(place, '/', 2) || '/'
             || (txid_current() % 4294967296)::TEXT
     FROM event_batches ORDER BY number DESC LIMIT 1";

#[tokio::test]
async fn an_event_that_the_batch_of_another_instance_just_missed_is_in_the_answer() {
    let fixture = Arc::new(Fixture::new().await);
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    let before = page(&fixture, &everything(payer)).await;
    let mut another = fixture.sql.begin().await.unwrap();
    sqlx::query(ANOTHERS).execute(&mut *another).await.unwrap();
    let missed = fixture.offer(payer).await;
    let reading = tokio::spawn({
        let (fixture, after) = (Arc::clone(&fixture), before.next);
        async move {
            let query = FeedQuery {
                after: Some(after),
                ..everything(payer)
            };
            page(&fixture, &query).await
        }
    });
    // Until it waits for the other batch.
    let waits = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)";
    while !sqlx::query_scalar::<_, bool>(waits)
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    another.commit().await.unwrap();
    let created = format!("pre_authorization.created of {}", missed.id);
    assert_eq!(texts(&reading.await.unwrap()), [&*created]);
}

#[tokio::test]
async fn numbers_go_on_where_a_restored_dump_left_them() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    let read_before = page(&fixture, &everything(payer)).await;
    let unnumbered = fixture.offer(payer).await;
    // What a restored dump looks like: every row is written again, by other transactions, whose numbers say
    // nothing about those that the rows remember.
    for sql in [
        "UPDATE events SET xid = xid + 1000000",
        "UPDATE event_batches SET next_xid = next_xid + 1000000",
    ] {
        sqlx::query(sql).execute(&fixture.sql).await.unwrap();
    }
    let native = fixture.offer(payer).await;
    let after = FeedQuery {
        after: Some(read_before.next),
        ..everything(payer)
    };
    let expected: Vec<String> = [unnumbered, native]
        .iter()
        .map(|it| format!("pre_authorization.created of {}", it.id))
        .collect();
    // One look finds that the database is another, and the same repairs it.
    assert_eq!(texts(&page(&fixture, &after).await), expected);
    let next = fixture.offer(payer).await;
    let text = format!("pre_authorization.created of {}", next.id);
    assert_eq!(texts(&page(&fixture, &after).await).last(), Some(&&*text));
    number(&fixture).await;
    assert_eq!(page(&fixture, &everything(payer)).await.events.len(), 4);
}

#[tokio::test]
async fn a_place_that_a_fail_over_lost_is_expired_and_others_are_not() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    let kept = page(&fixture, &everything(payer)).await.next;
    fixture.offer(payer).await;
    let lost = page(&fixture, &everything(payer)).await.next;
    // The promoted standby had not received the latest transactions.
    for sql in [
        "DELETE FROM event_feed WHERE number = (SELECT max(number) FROM event_feed)",
        "DELETE FROM event_batches WHERE number = (SELECT max(number) FROM event_batches)",
        "DELETE FROM events WHERE xid = (SELECT max(xid) FROM events)",
    ] {
        sqlx::query(sql).execute(&fixture.sql).await.unwrap();
    }
    let at = |after| FeedQuery {
        after: Some(after),
        ..everything(payer)
    };
    assert_eq!(read(&fixture, &at(lost)).await, FeedAnswer::Expired);
    // Another event takes the number.
    fixture.offer(payer).await;
    assert_eq!(page(&fixture, &at(kept)).await.events.len(), 1);
    assert_eq!(read(&fixture, &at(lost)).await, FeedAnswer::Expired);
}
