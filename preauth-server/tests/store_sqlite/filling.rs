//! Big tables, copied from the rows of a small fixture.

use crate::store::fixture::Fixture;
use crate::store::listings::ROWS;

/// Copies of the newest row of a table, with these columns as expressions over `n`.
pub(crate) async fn copy(fixture: &Fixture, table: &str, changed: &[(&str, &str)]) {
    let sql = format!("SELECT name FROM pragma_table_info('{table}')");
    let columns: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
        .fetch_all(&fixture.sql)
        .await
        .unwrap();
    let values: Vec<_> = columns
        .iter()
        .map(|column| {
            let found = changed.iter().find(|(name, _)| name == column);
            found.map_or(column.as_str(), |(_, value)| *value)
        })
        .collect();
    let sql = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ROWS})
         INSERT INTO {table} ({}) SELECT {} FROM (SELECT * FROM {table} LIMIT 1) CROSS JOIN numbers",
        columns.join(", "),
        values.join(", ")
    );
    let copied = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&fixture.sql);
    copied.await.unwrap();
}

pub(crate) async fn fill(fixture: &Fixture) {
    let id = ("id", "randomblob(16)");
    let ended = [
        ("next_attempt_at", "NULL"),
        ("leased_until", "NULL"),
        ("ended_at", "1"),
    ];
    let number = ("id", "4000000 + n");
    copy(
        fixture,
        "operations",
        &[
            number,
            ("invoice_number", "'LOTE-' || n"),
            ("invoice_number_nfc", "'LOTE-' || n"),
        ],
    )
    .await;
    let event = "CAST(printf('%016d', n) AS BLOB)";
    copy(fixture, "events", &[("id", event), ("version", "n + 10")]).await;
    let delivery = [id, ("status", "'DELIVERED'"), ("event_id", event)];
    let delivery: Vec<_> = delivery.into_iter().chain(ended).collect();
    copy(fixture, "deliveries", &delivery).await;
    let mail = [id, ("status", "'SENT'"), ("operation_id", "4000000 + n")];
    let mail: Vec<_> = mail.into_iter().chain(ended).collect();
    copy(fixture, "notices", &mail).await;
    let more = "INSERT INTO payment_orders (id, head_office_id, payer_id, supplier_id, version,
                    status, amount_cents, created_at)
                SELECT id, head_office_id, payer_id, supplier_id, 1, 'PAID', 1, 1 FROM operations;
                INSERT INTO audit_log (request_id, at, operator_name, role, address, action, outcome,
                    record)
                SELECT randomblob(16), 1, 'root', 'ADMIN', '127.0.0.1', 'cancelOperation', 'DONE',
                    'operations/' || id FROM operations";
    sqlx::raw_sql(more).execute(&fixture.sql).await.unwrap();
}
