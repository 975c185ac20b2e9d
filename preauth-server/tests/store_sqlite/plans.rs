//! Plans of the statements that list over all companies: none reads a big table from end to end.
//!
//! The driver reports each statement that it executes; its plan is asked for afterwards.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use sqlx::Row as _;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::listings::{ROWS, read_all};
use crate::store::fixture::Fixture;

/// The target of the driver's events about statements.
const STATEMENTS: &str = "sqlx::query";
const BIG: [&str; 6] = [
    "audit_log",
    "deliveries",
    "events",
    "notices",
    "operations",
    "payment_orders",
];
/// Of everything, or of what most rows are: the newest are read until the page or the count is full.
const NEWEST_FIRST: [&str; 6] = [
    "WHERE 1 = 1 ORDER BY ",
    "WHERE 1 = 1 LIMIT ",
    "AND status = $1 ORDER BY id DESC LIMIT ",
    "AND status = $1 LIMIT ",
    "AND d.status = 'DELIVERED' ORDER BY d.id DESC LIMIT ",
    "AND d.status = 'DELIVERED' LIMIT ",
];

/// Every statement that was executed in this process since it began to listen.
#[derive(Clone, Default)]
struct Statements(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Statements {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == STATEMENTS {
            event.record(&mut Texts(&self.0));
        }
    }
}

struct Texts<'a>(&'a Mutex<Vec<String>>);

impl Visit for Texts<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if ["summary", "db.statement"].contains(&field.name()) && !value.is_empty() {
            self.0.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

/// Copies of the newest row of a table, with these columns as expressions over `n`.
async fn copy(fixture: &Fixture, table: &str, changed: &[(&str, &str)]) {
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

async fn fill(fixture: &Fixture) {
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

/// The lines of the statement's plan that read a big table from end to end.
async fn scans(fixture: &Fixture, statement: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let plan = sqlx::raw_sql(sqlx::AssertSqlSafe(explain));
    let lines = plan.fetch_all(&fixture.sql).await.unwrap();
    let lines = lines.iter().map(|line| line.get::<String, _>("detail"));
    let aliases = |table: &&str| {
        let named = statement.split(table).skip(1);
        let named = named.filter_map(|rest| rest.split_whitespace().next());
        named.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let names: Vec<String> = BIG.iter().flat_map(aliases).collect();
    let is_big = |name: &str| BIG.contains(&name) || names.iter().any(|it| it == name);
    let is_scan = |line: &String| {
        let mut words = line.split_whitespace();
        words.next() == Some("SCAN") && words.next().is_some_and(is_big)
    };
    lines.filter(is_scan).collect()
}

/// Without statistics, which a server does not make.
#[tokio::test]
async fn lists_over_all_companies_read_no_big_table_from_end_to_end() {
    let statements = Statements::default();
    let listening = tracing_subscriber::registry().with(statements.clone());
    tracing::subscriber::set_global_default(listening).unwrap();
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    fill(&fixture).await;
    let offer = fixture.new_offer(payer);
    statements.0.lock().unwrap().clear();
    read_all(&fixture, &offer).await;
    let executed = std::mem::take(&mut *statements.0.lock().unwrap());
    let lists = |it: &&String| it.trim_start().starts_with("SELECT") && it.contains("LIMIT");
    let executed: Vec<_> = executed.iter().filter(lists).collect();
    assert!(executed.len() > 20, "{executed:#?}");
    for statement in executed {
        let text = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        if NEWEST_FIRST.iter().any(|it| text.contains(it)) {
            continue;
        }
        let scans = scans(&fixture, statement).await;
        assert!(scans.is_empty(), "{scans:?}: {text}");
    }
}
