//! A row that this build cannot decode: deliveries, mails and expiries of other rows continue, and
//! operators are informed.

use preauth_server::http::platform::METRICS;
use reqwest::Method;
use sqlx::{AssertSqlSafe, PgPool, SqlitePool};
use test_support::{
    Backend, Home, MailServer, Manner, Sandbox,
    office::{mail_of, offer, start_in, until_true},
    on_each_database,
    travel::{DAY, advance},
};

on_each_database! {
    unreadable_rows_delay_no_other_mail_delivery_or_expiry,
    a_history_shows_what_a_newer_server_recorded,
}

const BROKEN: &str = "a@fornecedor.example.com";
const SOUND: &str = "b@fornecedor.example.com";
/// Longer than the first retry delays, and than the time for which a row is skipped.
const A_WHILE: u64 = 1_200;

/// The database, accessed without the server.
enum Raw {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Raw {
    async fn at(sandbox: &Sandbox, url: Option<&String>) -> Self {
        if let Some(url) = url {
            Self::Postgres(PgPool::connect(url).await.unwrap())
        } else {
            let file = sandbox.data().join("preauth.db");
            let url = format!("sqlite://{}", file.display());
            Self::Sqlite(SqlitePool::connect(&url).await.unwrap())
        }
    }

    /// Writes one row as another build would.
    async fn write(&self, sql: String) {
        let sql = AssertSqlSafe(sql);
        let written = match self {
            Self::Sqlite(pool) => sqlx::query(sql)
                .execute(pool)
                .await
                .unwrap()
                .rows_affected(),
            Self::Postgres(pool) => sqlx::query(sql)
                .execute(pool)
                .await
                .unwrap()
                .rows_affected(),
        };
        assert_eq!(written, 1);
    }
}

async fn unreadable_rows_delay_no_other_mail_delivery_or_expiry(backend: Backend) {
    let server = MailServer::start().await;
    server.treat(BROKEN, Manner::NotYet);
    server.treat(SOUND, Manner::NotYet);
    let home = Home::of_a_sandbox(backend).await;
    let flags = home.database_flags();
    let sandbox = start_in(home, &server).await;
    let raw = Raw::at(&sandbox, flags.get(1)).await;
    let endpoint = format!("/companies/{}/webhook-endpoint", sandbox.company().await);
    post(&sandbox, &format!("{endpoint}/pause")).await;
    let broken = offer(&sandbox, "NF-1", BROKEN).await;
    let sound = offer(&sandbox, "NF-2", SOUND).await;
    for operation in [broken, sound] {
        until_true("its mail was tried", async || {
            mail_of(&sandbox, operation).await["attempts"] == 1
        })
        .await;
    }
    let event = format!("(SELECT id FROM events WHERE operation_id = {broken})");
    for change in [
        format!("UPDATE deliveries SET attempts_made = 5000000000 WHERE event_id = {event}"),
        format!("UPDATE notices SET recipient = 'nobody' WHERE operation_id = {broken}"),
        format!("UPDATE operations SET due_date = '2026-99-99' WHERE id = {broken}"),
    ] {
        raw.write(change).await;
    }
    server.treat(SOUND, Manner::Take);
    post(&sandbox, &format!("{endpoint}/resume")).await;
    advance(&sandbox, A_WHILE).await;
    until_true("the other's mail is sent", async || {
        mail_of(&sandbox, sound).await["status"] == "SENT"
    })
    .await;
    until_true("the other's event is delivered", async || {
        delivered(&sandbox).await == 1
    })
    .await;
    advance(&sandbox, 31 * DAY).await;
    until_true("the other offer expires", async || {
        get(&sandbox, &format!("/operations/{sound}")).await["status"] == "REPROVED"
    })
    .await;
    for table in ["deliveries", "notices", "operations"] {
        let sample = format!("preauth_rows_set_aside_total{{table=\"{table}\"}} 1");
        until_true(&sample, async || {
            let metrics = sandbox.platform().get(METRICS).await;
            metrics.text.lines().any(|line| line == sample)
        })
        .await;
    }
    let log = sandbox.log();
    assert_eq!(log.matches("row set aside").count(), 3, "each once: {log}");
    // Once it is readable, the postponed work is done.
    for change in [
        format!("UPDATE deliveries SET attempts_made = 0 WHERE event_id = {event}"),
        format!("UPDATE operations SET due_date = '2027-01-20' WHERE id = {broken}"),
    ] {
        raw.write(change).await;
    }
    advance(&sandbox, A_WHILE).await;
    // The skipped offer and both expiries; the month-old delivery has been deleted.
    until_true("everything is delivered", async || {
        delivered(&sandbox).await >= 3
    })
    .await;
    let repaired = get(&sandbox, &format!("/operations/{broken}")).await;
    assert_eq!(repaired["status"], "REPROVED");
}

async fn a_history_shows_what_a_newer_server_recorded(backend: Backend) {
    let server = MailServer::start().await;
    let home = Home::of_a_sandbox(backend).await;
    let flags = home.database_flags();
    let sandbox = start_in(home, &server).await;
    let raw = Raw::at(&sandbox, flags.get(1)).await;
    let operation = offer(&sandbox, "NF-1", SOUND).await;
    let path = format!("/operations/{operation}");
    post(&sandbox, &format!("{path}/request")).await;
    let before = get(&sandbox, &path).await;
    assert_eq!(before.get("unreadableEvents"), None);
    let of = |version| format!("WHERE operation_id = {operation} AND version = {version}");
    let (newer, damaged) = (of(1), of(2));
    raw.write(format!(
        "UPDATE events SET type = 'anticipation.hologram' {newer}"
    ))
    .await;
    let shown = get(&sandbox, &path).await;
    let mut expected = before;
    expected["history"][0]["type"] = "anticipation.hologram".into();
    assert_eq!(shown, expected);
    raw.write(format!("UPDATE events SET at = {} {damaged}", i64::MAX))
        .await;
    let shown = get(&sandbox, &path).await;
    assert_eq!(shown["history"].as_array().unwrap().len(), 1);
    assert_eq!(shown["unreadableEvents"], 1);
    assert!(sandbox.log().contains("row set aside"));
}

async fn delivered(sandbox: &Sandbox) -> u64 {
    let company = sandbox.company().await;
    let path = format!("/companies/{company}/deliveries?status=DELIVERED&limit=1");
    get(sandbox, &path).await["pagination"]["total"]
        .as_u64()
        .unwrap()
}

async fn get(sandbox: &Sandbox, path: &str) -> serde_json::Value {
    let platform = sandbox.platform();
    let answer = platform.get(&format!("/api/platform/v1{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

async fn post(sandbox: &Sandbox, path: &str) {
    let path = format!("/api/platform/v1{path}");
    let platform = sandbox.platform();
    let answer = platform.send(Method::POST, &path, &[], None).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
}
