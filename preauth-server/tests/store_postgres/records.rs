//! The rows in the database, read without the store.

use chrono::TimeDelta;
use preauth_core::memory::{DeliveryRecord, DeliveryStatus};
use preauth_core::operation::InvoiceFile;
use preauth_core::port::{Attempt, AttemptError, MailKind};
use preauth_core::value::{
    CompanyId, DeliveryId, Email, EndpointId, EventId, OperationId, Timestamp,
};
use sqlx::Row;
use sqlx::postgres::{PgPool, PgRow};
use uuid::Uuid;

/// The names of the service's tables.
pub(crate) async fn tables(sql: &PgPool) -> Vec<String> {
    let names = sqlx::query_scalar(
        "SELECT tablename::TEXT FROM pg_tables
         WHERE schemaname = current_schema() AND tablename <> '_sqlx_migrations'",
    );
    names.fetch_all(sql).await.unwrap()
}

pub(crate) async fn company_of(sql: &PgPool, endpoint: EndpointId) -> CompanyId {
    let row = sqlx::query("SELECT head_office_id FROM endpoints WHERE id = $1")
        .bind(endpoint.as_uuid())
        .fetch_one(sql)
        .await
        .unwrap();
    CompanyId::new(uuid(&row, "head_office_id"))
}

/// Adds events of an endpoint's company with pending deliveries to the endpoint.
pub(crate) async fn add_backlog(sql: &PgPool, endpoint: EndpointId, count: i64, due_at: Timestamp) {
    sqlx::query(
        "WITH made AS (
             INSERT INTO events (id, head_office_id, type, at, actor, body)
             SELECT gen_random_uuid(), e.head_office_id, 'webhook.test', 0, 'SYSTEM', '{}'
             FROM endpoints e CROSS JOIN generate_series(1, $2) WHERE e.id = $1
             RETURNING id, head_office_id)
         INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
             next_attempt_at, created_at)
         SELECT gen_random_uuid(), head_office_id, $1, id, 'webhook.test', 'PENDING', $3, 0
         FROM made",
    )
    .bind(endpoint.as_uuid())
    .bind(count)
    .bind(due_at.unix_millis())
    .execute(sql)
    .await
    .unwrap();
}

pub(crate) async fn deliveries(sql: &PgPool, event: EventId) -> Vec<DeliveryRecord> {
    let rows = sqlx::query(
        "SELECT id, endpoint_id, status, coalesce(next_attempt_at, ended_at) AS due_at
         FROM deliveries WHERE event_id = $1",
    )
    .bind(event.as_uuid())
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

pub(crate) async fn mails_to(sql: &PgPool, recipient: &Email) -> Vec<(MailKind, String)> {
    let rows = sqlx::query("SELECT kind, content FROM notices WHERE recipient = $1")
        .bind(recipient.as_str())
        .fetch_all(sql)
        .await
        .unwrap();
    let mail = |row: &PgRow| {
        let kind: &str = row.get("kind");
        (kind.parse().unwrap(), row.get("content"))
    };
    rows.iter().map(mail).collect()
}

pub(crate) async fn invoice_file(sql: &PgPool, operation: OperationId) -> Option<InvoiceFile> {
    let row = sqlx::query(
        "SELECT name, media_type, size_bytes, sha256 FROM invoice_files WHERE operation_id = $1",
    )
    .bind(operation.get())
    .fetch_optional(sql)
    .await
    .unwrap()?;
    Some(InvoiceFile {
        name: row.get("name"),
        media_type: row.get("media_type"),
        size: row.get::<i64, _>("size_bytes").try_into().unwrap(),
        sha256: row.get::<Vec<u8>, _>("sha256").try_into().unwrap(),
    })
}

pub(crate) async fn bring_lease_ends_forward(sql: &PgPool, by: TimeDelta) {
    sqlx::query(
        "UPDATE deliveries SET leased_until = leased_until - $1 WHERE leased_until IS NOT NULL",
    )
    .bind(by.num_milliseconds())
    .execute(sql)
    .await
    .unwrap();
}

async fn attempts(sql: &PgPool, delivery: DeliveryId) -> Vec<Attempt> {
    let rows = sqlx::query(
        "SELECT at, duration_ms, http_status, error, response_body FROM attempts
         WHERE delivery_id = $1 ORDER BY number",
    )
    .bind(delivery.as_uuid())
    .fetch_all(sql)
    .await
    .unwrap();
    let attempt = |row: &PgRow| Attempt {
        at: Timestamp::from_unix_millis(row.get("at")).unwrap(),
        duration: TimeDelta::milliseconds(row.get("duration_ms")),
        http_status: row
            .get::<Option<i64>, _>("http_status")
            .map(|status| status.try_into().unwrap()),
        error: row
            .get::<Option<&str>, _>("error")
            .map(|code| AttemptError::of_code(code).unwrap()),
        response_body: row.get("response_body"),
    };
    rows.iter().map(attempt).collect()
}

fn uuid(row: &PgRow, column: &str) -> Uuid {
    row.get(column)
}
