//! The rows of creates in a SQLite database, each create in a transaction of its own that is synced,
//! without any of our code. Runs in a process of its own, for which syncs can be made slower.

use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::runtime::Builder;

use crate::connection::now;

/// The first argument of the process.
pub(crate) const NAME: &str = "one-by-one";

/// The records that all rows refer to.
const COMPANY: &str = "
    INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at)
        VALUES (x'00000000000000000000000000000001', '11222333000181', 'Construtora', 'CONSTRUCTION',
            x'00000000000000000000000000000001', 1)
        ON CONFLICT DO NOTHING;
    INSERT INTO endpoints (id, head_office_id, url, events, paused_at, created_at)
        VALUES (x'00000000000000000000000000000001', x'00000000000000000000000000000001',
            'http://127.0.0.1:9/', 'pre_authorization.created', 1, 1)
        ON CONFLICT DO NOTHING";
/// `?1` is the operation's number, `?2` an id for its event, delivery and mail.
const ROWS: [&str; 5] = [
    "INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin,
         status, amount_cents, withheld_tax_cents, due_date, invoice_number, external_reference,
         expires_at, created_at)
     SELECT ?1, id, id, id, cnpj, 1, 'PRE_AUTH', 'IN_PRE_AUTH', 100000, 0, '2027-01-31', 'B-' || ?1,
         'pedido ' || ?1, 1900000000000, 1800000000000
     FROM companies WHERE ?2 = ?2 LIMIT 1",
    "INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id, body, expires_at)
     SELECT id, 'create-' || ?1, zeroblob(32), ?1, hex(zeroblob(225)), 1900000000000
     FROM companies WHERE ?2 = ?2 LIMIT 1",
    "INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, actor_api_key_id,
         actor_user_id, body)
     SELECT ?2, id, ?1, 1, 'pre_authorization.created', 1800000000000, 'API_KEY', id, id,
         hex(zeroblob(300))
     FROM companies LIMIT 1",
    "INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
         next_attempt_at, created_at)
     SELECT ?2, id, id, ?2, 'pre_authorization.created', 'PENDING', 1800000000000, 1800000000000
     FROM companies WHERE ?1 = ?1 LIMIT 1",
    "INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content, staged_at,
         next_attempt_at)
     SELECT ?2, id, ?1, 'OFFER', 'financeiro@fornecedor.com.br', hex(zeroblob(150)), 1800000000000,
         1800000000000
     FROM companies LIMIT 1",
];

/// Commits creates until the time is over, and prints their number.
pub(crate) fn write(file: &str, seconds: u64) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let count = runtime.block_on(commit(file, Duration::from_secs(seconds)));
    println!("{}", count.unwrap());
}

async fn commit(file: &str, time: Duration) -> Result<i64, sqlx::Error> {
    let mut connection = SqliteConnectOptions::new()
        .filename(file)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .connect()
        .await?;
    sqlx::raw_sql(COMPANY).execute(&mut connection).await?;
    let last = sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM operations");
    let last: i64 = last.fetch_one(&mut connection).await?;
    let begun = now();
    let mut count = 0;
    while begun.elapsed() < time {
        count += 1;
        create(&mut connection, last + count).await?;
    }
    connection.close().await?;
    Ok(count)
}

async fn create(connection: &mut SqliteConnection, number: i64) -> Result<(), sqlx::Error> {
    let id = i128::from(number).to_be_bytes();
    let mut transaction = connection.begin().await?;
    for row in ROWS {
        let row = sqlx::query(row).bind(number).bind(id.as_slice());
        row.execute(&mut *transaction).await?;
    }
    transaction.commit().await
}
