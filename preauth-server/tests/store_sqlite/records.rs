//! The rows in the database file, read without the store.

use chrono::TimeDelta;
use preauth_core::memory::{DeliveryRecord, DeliveryStatus};
use preauth_core::operation::InvoiceFile;
use preauth_core::port::{Attempt, AttemptError, MailKind};
use preauth_core::value::{
    CompanyId, DeliveryId, Email, EndpointId, EventId, OperationId, Timestamp,
};
use sqlx::Row;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use uuid::Uuid;

/// The names of the service's tables.
pub(crate) async fn tables(sql: &SqlitePool) -> Vec<String> {
    let names = sqlx::query_scalar(
        "SELECT name FROM sqlite_master
         WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '_sqlx_migrations'",
    );
    names.fetch_all(sql).await.unwrap()
}

pub(crate) async fn company_of(sql: &SqlitePool, endpoint: EndpointId) -> CompanyId {
    let row = sqlx::query("SELECT head_office_id FROM endpoints WHERE id = ?1")
        .bind(endpoint.as_uuid().as_bytes().as_slice())
        .fetch_one(sql)
        .await
        .unwrap();
    CompanyId::new(uuid(&row, "head_office_id"))
}

/// Adds events of an endpoint's company with pending deliveries to the endpoint.
pub(crate) async fn add_backlog(
    sql: &SqlitePool,
    endpoint: EndpointId,
    count: i64,
    due_at: Timestamp,
) {
    let statements = [
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
         INSERT INTO events (id, head_office_id, type, at, actor, body)
         SELECT randomblob(16), e.head_office_id, 'webhook.test', 0, 'SYSTEM', '{}'
         FROM endpoints e CROSS JOIN numbers WHERE e.id = ?1 AND ?3 IS NOT NULL",
        "INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
             next_attempt_at, created_at)
         SELECT randomblob(16), v.head_office_id, ?1, v.id, 'webhook.test', 'PENDING', ?3, 0
         FROM events v WHERE v.type = 'webhook.test' AND ?2 IS NOT NULL",
    ];
    for statement in statements {
        sqlx::query(statement)
            .bind(endpoint.as_uuid().as_bytes().as_slice())
            .bind(count)
            .bind(due_at.unix_millis())
            .execute(sql)
            .await
            .unwrap();
    }
}

pub(crate) async fn deliveries(sql: &SqlitePool, event: EventId) -> Vec<DeliveryRecord> {
    let rows = sqlx::query(
        "SELECT id, endpoint_id, status, coalesce(next_attempt_at, ended_at) AS due_at
         FROM deliveries WHERE event_id = ?1",
    )
    .bind(event.as_uuid().as_bytes().as_slice())
    .fetch_all(sql)
    .await
    .unwrap();
    let mut deliveries = Vec::new();
    for row in &rows {
        let id = DeliveryId::new(uuid(row, "id"));
        deliveries.push(DeliveryRecord {
            id,
            endpoint: EndpointId::new(uuid(row, "endpoint_id")),
            status: match row.get("status") {
                "PENDING" => DeliveryStatus::Pending,
                "DELIVERED" => DeliveryStatus::Delivered,
                "FAILED" => DeliveryStatus::Failed,
                other => panic!("status {other}"),
            },
            due_at: Timestamp::from_unix_millis(row.get("due_at")).unwrap(),
            attempts: attempts(sql, id).await,
        });
    }
    deliveries
}

pub(crate) async fn mails_to(sql: &SqlitePool, recipient: &Email) -> Vec<(MailKind, String)> {
    let rows = sqlx::query("SELECT kind, content FROM notices WHERE recipient = ?1")
        .bind(recipient.as_str())
        .fetch_all(sql)
        .await
        .unwrap();
    let mail = |row: &SqliteRow| {
        let kind: &str = row.get("kind");
        (kind.parse().unwrap(), row.get("content"))
    };
    rows.iter().map(mail).collect()
}

pub(crate) async fn invoice_file(sql: &SqlitePool, operation: OperationId) -> Option<InvoiceFile> {
    let row = sqlx::query(
        "SELECT name, media_type, size_bytes, sha256 FROM invoice_files WHERE operation_id = ?1",
    )
    .bind(operation.get())
    .fetch_optional(sql)
    .await
    .unwrap()?;
    Some(InvoiceFile {
        name: row.get("name"),
        media_type: row.get("media_type"),
        size: row.get("size_bytes"),
        sha256: row.get::<Vec<u8>, _>("sha256").try_into().unwrap(),
    })
}

pub(crate) async fn bring_lease_ends_forward(sql: &SqlitePool, by: TimeDelta) {
    sqlx::query(
        "UPDATE deliveries SET leased_until = leased_until - ?1 WHERE leased_until IS NOT NULL",
    )
    .bind(by.num_milliseconds())
    .execute(sql)
    .await
    .unwrap();
}

async fn attempts(sql: &SqlitePool, delivery: DeliveryId) -> Vec<Attempt> {
    let rows = sqlx::query(
        "SELECT at, duration_ms, http_status, error, response_body FROM attempts
         WHERE delivery_id = ?1 ORDER BY number",
    )
    .bind(delivery.as_uuid().as_bytes().as_slice())
    .fetch_all(sql)
    .await
    .unwrap();
    let attempt = |row: &SqliteRow| Attempt {
        at: Timestamp::from_unix_millis(row.get("at")).unwrap(),
        duration: TimeDelta::milliseconds(row.get("duration_ms")),
        http_status: row.get("http_status"),
        error: row
            .get::<Option<&str>, _>("error")
            .map(|code| AttemptError::of_code(code).unwrap()),
        response_body: row.get("response_body"),
    };
    rows.iter().map(attempt).collect()
}

fn uuid(row: &SqliteRow, column: &str) -> Uuid {
    Uuid::from_slice(row.get(column)).unwrap()
}
