//! Lists and histories with a row that this build cannot decode show all others.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::operation::{Actor, Command};
use preauth_core::port::{Recorded, Viewer};
use preauth_core::value::{Cnpj, EventType};
use preauth_server::directory::{DeliveryFilter, PaymentOrderFilter};
use sqlx::AssertSqlSafe;

use crate::store::deliveries::{claim_up_to, deliver};
use crate::store::fixture::{FIRST_PAGE, Fixture};

/// A time that cannot be represented.
const NEVER: i64 = i64::MAX;

/// Writes directly to the database, as another build would.
async fn write(fixture: &Fixture, sql: String) {
    let done = sqlx::query(AssertSqlSafe(sql)).execute(&fixture.sql).await;
    assert!(done.unwrap().rows_affected() > 0);
}

#[tokio::test]
async fn a_history_keeps_the_name_of_an_unknown_event_and_leaves_out_what_is_damaged() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let id = fixture.offer(payer).await.id;
    for command in [Command::Request, Command::Approve] {
        let (viewer, actor) = (Viewer::Platform, Actor::Platform);
        let done = fixture
            .service
            .command(viewer, id, &command, actor, fixture.now);
        done.await.unwrap();
    }
    let of = |version| format!("WHERE operation_id = {id} AND version = {version}");
    let hologram = "anticipation.hologram";
    write(
        &fixture,
        format!("UPDATE events SET type = '{hologram}' {}", of(2)),
    )
    .await;
    let history = fixture.stores.queries.history(id).await.unwrap();
    assert_eq!(history.len(), 3);
    assert_eq!(history[0].event_type, EventType::PreAuthorizationCreated);
    assert_eq!(
        history[1].event_type,
        Recorded::Unknown(hologram.to_owned())
    );
    assert_eq!(history[1].actor, Actor::Platform);
    assert_eq!(history[2].event_type, EventType::AnticipationApproved);
    assert_eq!(fixture.stores.watch.set_aside(), []);
    write(
        &fixture,
        format!("UPDATE events SET at = {NEVER} {}", of(1)),
    )
    .await;
    for _ in 0..2 {
        let history = fixture.stores.queries.history(id).await.unwrap();
        let versions: Vec<_> = history.iter().map(|entry| entry.version.get()).collect();
        assert_eq!(versions, [2, 3]);
    }
    assert_eq!(fixture.stores.watch.set_aside(), [("events", 1)]);
}

#[tokio::test]
async fn lists_of_what_belongs_to_operations_leave_out_what_is_damaged() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let id = fixture.offer(payer).await.id;
    let parties = "head_office_id, payer_id, supplier_id";
    for (number, date, at) in [(1, "2027-02-20", 0), (2, "2026-99-99", NEVER)] {
        for insert in [
            format!(
                "extensions (id, head_office_id, operation_id, new_due_date, total_amount_cents,
                     status)
                 SELECT {number}, head_office_id, id, '{date}', 100000, 'CANCELED'"
            ),
            format!(
                "invoices (id, {parties}, amount_cents, due_date, number, received_at)
                 SELECT {number}, {parties}, 100000, '{date}', 'NF-{number}', 0"
            ),
            format!(
                "payment_orders (id, {parties}, version, status, amount_cents, created_at)
                 SELECT {number}, {parties}, 1, 'CANCELED', 100000, {at}"
            ),
        ] {
            let sql = format!("INSERT INTO {insert} FROM operations WHERE id = {id}");
            write(&fixture, sql).await;
        }
    }
    let directory = fixture.directory();
    let extensions = directory.extensions(id, FIRST_PAGE).await.unwrap();
    assert_eq!((extensions.items.len(), extensions.total), (1, 2));
    let invoices = directory.invoices(FIRST_PAGE).await.unwrap();
    assert_eq!((invoices.items.len(), invoices.total), (1, 2));
    let all = PaymentOrderFilter::default();
    let orders = directory.payment_orders(all, FIRST_PAGE).await.unwrap();
    assert_eq!((orders.items.len(), orders.total), (1, 2));
    let aside = [("extensions", 1), ("invoices", 1), ("payment_orders", 1)];
    assert_eq!(fixture.stores.watch.set_aside(), aside);
}

#[tokio::test]
async fn a_block_list_with_an_impossible_tax_id_shows_the_others() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let directory = fixture.directory();
    let sound = Cnpj::parse("12ABC34501DE35").unwrap();
    for blocked in [sound, Cnpj::parse("11222333000181").unwrap()] {
        let blocked = directory.block_supplier(payer, &blocked, fixture.now);
        blocked.await.unwrap();
    }
    let damage = "UPDATE blocked_suppliers SET supplier_cnpj = '11222333000199'
                  WHERE supplier_cnpj = '11222333000181'";
    write(&fixture, damage.to_owned()).await;
    assert_eq!(directory.blocked_suppliers(payer).await.unwrap(), [sound]);
    assert_eq!(fixture.stores.watch.set_aside(), [("blocked_suppliers", 1)]);
}

#[tokio::test]
async fn a_damaged_attempt_hides_no_delivery() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    for _ in 0..2 {
        fixture.offer(payer).await;
    }
    let two = NonZeroU32::new(2).unwrap();
    let leased = claim_up_to(&fixture, fixture.now, two).await;
    for (milliseconds, leased) in (0_i64..).zip(&leased) {
        let at = fixture.later(TimeDelta::milliseconds(milliseconds));
        deliver(&fixture, leased, at).await;
    }
    let first = fixture.now.unix_millis();
    let damage = format!("UPDATE attempts SET at = {NEVER} WHERE at = {first}");
    write(&fixture, damage).await;
    let directory = fixture.directory();
    let listed = directory.deliveries(
        Some(payer),
        DeliveryFilter::default(),
        FIRST_PAGE,
        fixture.now,
    );
    let listed = listed.await.unwrap();
    let mut attempts: Vec<_> = listed.items.iter().map(|it| it.attempts.len()).collect();
    attempts.sort_unstable();
    assert_eq!(attempts, [0, 1]);
    let shown = directory.delivery(leased[0].delivery).await.unwrap();
    assert_eq!(shown.unwrap().attempts, []);
    assert_eq!(fixture.stores.watch.set_aside(), [("attempts", 1)]);
}
