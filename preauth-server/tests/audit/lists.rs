//! Lists of events that lack one, have one twice, out of order or of somebody else; and gaps that are none.

use chrono::TimeDelta;
use preauth_core::audit::Rule;
use preauth_server::clock::{Clock, SystemClock};
use preauth_server::store;
use test_support::{Backend, Scratch, on_each_database};

use crate::corruption::audited;
use crate::world::live_in;

on_each_database! {
    each_fault_of_a_list_is_named,
    what_retention_removed_is_not_missed,
    a_list_without_its_beginning_is_found,
}

/// A statement of both databases, the findings' rule, and a part of one of them.
type Fault = (&'static str, Rule, &'static str);

const FAULTS: [Fault; 10] = [
    (
        "DELETE FROM event_feed WHERE event_id =
             (SELECT id FROM events WHERE operation_id = 1 AND version = 3)",
        Rule::EventLists,
        "it is version 4 of operation 1, and comes as number",
    ),
    (
        "DELETE FROM event_feed WHERE event_id =
             (SELECT id FROM events WHERE operation_id = 2 AND version = 2)",
        Rule::EventLists,
        "and the next one is missing",
    ),
    (
        "DELETE FROM event_feed WHERE event_id =
             (SELECT id FROM events WHERE payment_order_id IS NOT NULL AND version = 2)",
        Rule::EventLists,
        "it is version 3 of payment order",
    ),
    // The middle of one list alone.
    (
        "DELETE FROM event_feed WHERE head_office_id = (SELECT supplier_id FROM operations WHERE id = 1)
             AND event_id = (SELECT id FROM events WHERE operation_id = 1 AND version = 3)",
        Rule::EventLists,
        "right after version 2",
    ),
    (
        "UPDATE event_feed SET event_id = (SELECT id FROM events WHERE operation_id = 4)
         WHERE event_id = (SELECT id FROM events WHERE operation_id = 7)",
        Rule::EventLists,
        "it is twice in the list of company",
    ),
    (
        "UPDATE event_feed SET event_id =
             (SELECT e.id FROM events e JOIN events f ON e.operation_id = f.operation_id
              WHERE f.id = event_feed.event_id AND e.version = 5 - f.version)
         WHERE event_id IN (SELECT id FROM events WHERE operation_id = 1 AND version IN (2, 3))",
        Rule::EventLists,
        "it is version 2 of operation 1, and comes as number",
    ),
    (
        "UPDATE event_feed SET head_office_id = (SELECT id FROM companies WHERE cnpj = '11444777000161')
         WHERE event_id = (SELECT id FROM events WHERE operation_id = 4)
           AND head_office_id = (SELECT supplier_id FROM operations WHERE id = 4)",
        Rule::EventLists,
        "which may not read it",
    ),
    // A payment order is its payer's alone.
    (
        "UPDATE event_feed SET head_office_id = supplier_id WHERE event_id =
             (SELECT id FROM events WHERE payment_order_id IS NOT NULL AND version = 1)",
        Rule::EventLists,
        "which may not read it",
    ),
    (
        "UPDATE event_feed SET event_id = payer_id
         WHERE event_id = (SELECT id FROM events WHERE operation_id = 4)",
        Rule::References,
        "its event does not exist",
    ),
    // In no list at all, which no other event shows.
    (
        "DELETE FROM event_feed WHERE event_id = (SELECT id FROM events WHERE operation_id = 4)",
        Rule::EventLists,
        "",
    ),
];

async fn each_fault_of_a_list_is_named(backend: Backend) {
    let whole = Scratch::empty(backend).await;
    live_in(&whole).await;
    let (totals, found) = audited(&whole, true).await;
    assert_eq!(found, []);
    assert!(totals.listed > 40, "{totals:?}");
    for (statement, rule, words) in FAULTS {
        let copy = whole.copy().await;
        copy.execute(&[statement]).await;
        let (_, found) = audited(&copy, true).await;
        let is_named = found
            .iter()
            .any(|it| it.rule == rule && it.what.contains(words));
        assert!(is_named, "{words:?} of {statement}: {found:#?}");
        let of_lists = [Rule::EventLists, Rule::References];
        let others = found.iter().filter(|it| !of_lists.contains(&it.rule));
        assert_eq!(others.count(), 0, "{statement}: {found:#?}");
    }
}

async fn what_retention_removed_is_not_missed(backend: Backend) {
    let database = Scratch::empty(backend).await;
    live_in(&database).await;
    let stores = store::open(&database.url()).await.unwrap();
    let before = SystemClock.now().saturating_add(TimeDelta::days(1));
    let (mut listed, mut rounds) = (u64::MAX, 0);
    loop {
        let (totals, found) = audited(&database, true).await;
        assert_eq!(found, [], "after {rounds} rounds");
        assert!(totals.listed < listed);
        listed = totals.listed;
        let forget = stores.housekeeping.forget_event_numbers(before, 3);
        if forget.await.unwrap() == 0 {
            break;
        }
        rounds += 1;
    }
    assert!(rounds > 0);
    stores.lifecycle.close().await;
}

async fn a_list_without_its_beginning_is_found(backend: Backend) {
    let database = Scratch::empty(backend).await;
    live_in(&database).await;
    database
        .execute(&["DELETE FROM event_feed WHERE number = 1"])
        .await;
    let (_, found) = audited(&database, true).await;
    let rules: Vec<_> = found.iter().map(|it| it.rule).collect();
    let expected: &[Rule] = match backend {
        // One number.
        Backend::Sqlite => &[Rule::EventLists],
        // An event in two lists.
        Backend::Postgres => &[Rule::EventLists, Rule::EventLists],
    };
    assert_eq!(rules, expected, "{found:#?}");
}

/// Whoever numbers events next will list them.
#[tokio::test]
async fn events_without_a_number_yet_are_not_missed() {
    let database = Scratch::empty(Backend::Postgres).await;
    live_in(&database).await;
    database
        .execute(&[
            "DELETE FROM event_feed
             WHERE number > (SELECT last_event FROM event_batches WHERE number = 1)",
            "DELETE FROM event_batches WHERE number > 1",
        ])
        .await;
    let (totals, found) = audited(&database, true).await;
    assert_eq!(found, []);
    assert!(totals.listed > 0);
}

/// A dump's rows are written by other transactions, whose numbers say nothing about its batches.
#[tokio::test]
async fn a_restored_dump_is_no_finding_and_its_gaps_still_are() {
    let database = Scratch::empty(Backend::Postgres).await;
    live_in(&database).await;
    database
        .execute(&[
            "UPDATE events SET xid = xid + 1000000",
            "UPDATE event_batches SET next_xid = next_xid + 1000000 WHERE number > 0",
        ])
        .await;
    let (_, found) = audited(&database, true).await;
    assert_eq!(found, []);
    let (statement, rule, words) = FAULTS[0];
    database.execute(&[statement]).await;
    let (_, found) = audited(&database, true).await;
    let named = found.iter().find(|it| it.what.contains(words));
    assert_eq!(named.map(|it| it.rule), Some(rule), "{found:#?}");
}
