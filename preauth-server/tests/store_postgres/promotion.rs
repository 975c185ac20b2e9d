//! Ids after the promotion of a standby, which the database detects by its timelines.

use std::sync::Arc;

use preauth_core::value::OperationId;

use crate::store::fixture::Fixture;

/// How far sequences are advanced.
const MARGIN: i64 = 1_000_000;

/// Makes the database know only a timeline that its server is not on.
async fn promote(fixture: &Fixture) {
    sqlx::query("UPDATE id_lineages SET timeline = 1000")
        .execute(&fixture.sql)
        .await
        .unwrap();
}

async fn lineages(fixture: &Fixture) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM id_lineages")
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

const fn after(before: OperationId, margins: i64) -> std::ops::Range<i64> {
    let first = before.get() + margins * MARGIN;
    first..first + MARGIN
}

#[tokio::test]
async fn a_new_database_counts_from_one() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    assert_eq!(fixture.offer(payer).await.id.get(), 1);
    assert_eq!(lineages(&fixture).await, 1);
}

#[tokio::test]
async fn ids_skip_once_after_a_promotion_even_if_many_instances_notice_it() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let before = fixture.offer(payer).await.id;
    promote(&fixture).await;
    let noticing: Vec<_> = (2..6)
        .map(|namespace| {
            let database = Arc::clone(&fixture.database);
            tokio::spawn(async move {
                let instance = Fixture::on(&database, namespace).await;
                instance.offer(payer).await.id.get()
            })
        })
        .collect();
    for noticed in noticing {
        let id = noticed.await.unwrap();
        assert!(after(before, 1).contains(&id), "{id}");
    }
    assert_eq!(lineages(&fixture).await, 2);
}

/// A logical copy, for another version of PostgreSQL, does not contain the state of sequences.
#[tokio::test]
async fn ids_go_on_after_the_largest_that_is_there() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    for _ in 0..3 {
        fixture.offer(payer).await;
    }
    let last = fixture.offer(payer).await.id;
    sqlx::query("SELECT setval('operation_ids', 1)")
        .execute(&fixture.sql)
        .await
        .unwrap();
    promote(&fixture).await;
    let copy = Fixture::on(&fixture.database, 2).await;
    let id = copy.offer(payer).await.id.get();
    assert!(
        after(last, 1).contains(&id) && id > last.get() + MARGIN,
        "{id}"
    );
}

#[tokio::test]
async fn every_sequence_is_moved_on() {
    // Slots of counts may repeat.
    const STATES: &str = "SELECT coalesce(last_value, 0) FROM pg_sequences
         WHERE schemaname = 'public' AND sequencename NOT LIKE '%_slots'
         ORDER BY sequencename";
    let fixture = Fixture::new().await;
    let states = async || -> Vec<i64> {
        let read = sqlx::query_scalar(STATES).fetch_all(&fixture.sql);
        read.await.unwrap()
    };
    let before = states().await;
    promote(&fixture).await;
    let instance = Fixture::on(&fixture.database, 2).await;
    instance.stores.lifecycle.check().await.unwrap();
    for (before, after) in before.iter().zip(states().await) {
        assert!(after >= before + MARGIN, "{before} became {after}");
    }
}
