//! Rows that cannot be read: an audit reports each and goes on, to violations after them.

use serde_json::Value;
use test_support::{Backend, Scratch, on_each_database};

use crate::command::{audit, text};
use crate::world::live_in;

/// A violation in the last kind of record.
const LAST: &str = "UPDATE invoice_file_bytes SET bytes = bytes + 1";

on_each_database! {
    an_audit_goes_on_after_a_row_that_belongs_to_another_record,
}

/// The rule and the subject of each finding; the exit code must report violations.
async fn findings(database: &Scratch) -> Vec<(String, String)> {
    let output = audit(&["--json", "--at-rest", "--database", &database.url()]).await;
    let printed = text(&output.stdout);
    let code = output.status.code();
    assert_eq!(code, Some(1), "{printed}{}", text(&output.stderr));
    let lines = printed.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        (field("rule"), field("subject"))
    });
    lines.filter(|(rule, _)| !rule.is_empty()).collect()
}

fn finds(found: &[(String, String)], rule: &str, subject: &str) -> bool {
    let mut found = found.iter();
    found.any(|(found, of)| found == rule && of == subject)
}

/// An event of the operation has a time that no server writes; the second payment order is checked by
/// it, and the first order is what cannot be read then.
async fn an_audit_goes_on_after_a_row_that_belongs_to_another_record(backend: Backend) {
    let database = Scratch::empty(backend).await;
    live_in(&database).await;
    let statements = [
        "UPDATE payment_orders SET operation_id = 4",
        "INSERT INTO payment_orders (id, head_office_id, payer_id, supplier_id, operation_id,
             version, status, amount_cents, scheduled_for, reason, created_at)
         SELECT id + 1, head_office_id, payer_id, supplier_id, operation_id, version, status,
             amount_cents, scheduled_for, reason, created_at
         FROM payment_orders",
        "UPDATE events SET type = 'anticipation.payout_returned', at = 9223372036854775807
         WHERE operation_id = 4",
        LAST,
    ];
    database.execute(&statements).await;
    let found = findings(&database).await;
    let of_orders = |(rule, of): &&(String, String)| rule == "READABLE" && of.contains("order");
    assert_eq!(found.iter().filter(of_orders).count(), 1, "{found:?}");
    let is_last = |(rule, _): &(String, String)| rule == "FILE_BYTES";
    assert!(found.iter().any(is_last), "{found:?}");
}

/// Ids and keys that SQLite accepts once its checks are ignored. Each kind has records after the row.
#[tokio::test]
async fn an_audit_goes_on_after_rows_without_a_readable_key() {
    let whole = Scratch::empty(Backend::Sqlite).await;
    live_in(&whole).await;
    for (statement, subject) in [
        (
            "UPDATE notices SET id = x'01' WHERE operation_id = 2",
            "a mail",
        ),
        (
            "UPDATE notices SET id = x'ff' WHERE operation_id = 2",
            "a mail",
        ),
        (
            "UPDATE events SET id = x'01' WHERE operation_id = 2 AND version = 2",
            "an event",
        ),
        (
            "UPDATE events SET id = x'01', operation_id = NULL, version = NULL
             WHERE operation_id = 2 AND version = 2",
            "an event",
        ),
        (
            "UPDATE deliveries SET id = x'01' WHERE id = (SELECT min(id) FROM deliveries)",
            "a delivery",
        ),
        (
            "UPDATE idempotency_replies SET key = CAST(x'ff' AS TEXT) WHERE operation_id = 2",
            "a reply",
        ),
        (
            "UPDATE operations SET supplier_cnpj = CAST(x'ff' AS TEXT) WHERE id = 4",
            "operation 4",
        ),
        (
            "UPDATE operations SET head_office_id = x'ff' WHERE id = 4",
            "a head office",
        ),
    ] {
        let damaged = whole.copy().await;
        let statements = ["PRAGMA ignore_check_constraints = ON", statement, LAST];
        damaged.execute(&statements).await;
        let found = findings(&damaged).await;
        assert!(
            finds(&found, "READABLE", subject),
            "{subject}, {statement}: {found:?}"
        );
        let is_last = |(rule, _): &(String, String)| rule == "FILE_BYTES";
        assert!(found.iter().any(is_last), "{statement}: {found:?}");
    }
}
