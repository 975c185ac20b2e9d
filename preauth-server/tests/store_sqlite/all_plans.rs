//! Plans of every statement of the store. No table is read from end to end, and no large one from end to end of a head
//! office, but for a named reason. There are no statistics, see `statistics`.

use std::collections::BTreeSet;

use sqlx::Row as _;
use sqlx::sqlite::SqliteConnection;

use crate::pass::Scene;
use crate::statements::Statements;
use crate::store::fixture::Fixture;
use crate::store::pass::{literals, search};

/// Tables with one row, or a row for each step of the schema.
const TINY: [&str; 4] = [
    "_sqlx_migrations",
    "deployment",
    "schema_compatibility",
    "event_numbers",
];
/// Tables of which a head office may have millions of rows.
const LARGE: [&str; 9] = [
    "attempts",
    "deliveries",
    "event_feed",
    "events",
    "idempotency_replies",
    "invoices",
    "notices",
    "operations",
    "payment_orders",
];
/// Parts of plans and of statements that may read a table or an index from end to end, and why.
const PERMITTED: [(&str, &str); 24] = [
    (
        "INDEX deliveries_newest_first (head_office_id=?)",
        "a company's deliveries, for an operator: a page in the order of the index, and the list's total",
    ),
    (
        "INDEX notices_newest_first (head_office_id=?)",
        "a company's mails, for an operator: a page in the order of the index, and the list's total",
    ),
    (
        "INDEX notices_of_office_to_mailbox (head_office_id=?)",
        "the total of a company's mails, for an operator",
    ),
    (
        "INDEX notices_about_endpoints (head_office_id=?)",
        "mails of no operation, of which a company has few",
    ),
    (
        "INDEX operations_of_head_office (head_office_id=?)",
        "a page of a list, in the order of the index",
    ),
    ("0, count(*) FROM operations", "an audit counts all"),
    ("INDEX deliveries_leased", "what is leased at the moment"),
    (
        "INDEX deliveries_retried_of_endpoint",
        "what waits after a failure",
    ),
    ("INDEX endpoints_failing", "those that fail"),
    (
        "INDEX endpoints_one_per_head_office",
        "twice a minute; a row for each company",
    ),
    (
        "INDEX notices_due",
        "from the front, until so many were read",
    ),
    (
        "FROM event_feed ORDER BY number LIMIT",
        "from the front, until so many were read",
    ),
    ("ORDER BY after_number DESC LIMIT 1", "the last one"),
    ("ORDER BY number DESC LIMIT 1", "the last one"),
    ("ORDER BY id DESC LIMIT 1", "the last one"),
    (
        "FROM api_keys WHERE revoked_at IS NULL AND expires_at >",
        "a row for each key, when an operator asks which expire",
    ),
    (
        "INDEX deliveries_due: SELECT count(*)",
        "what waits, until so many were counted",
    ),
    (
        "WITH RECURSIVE retried (endpoint_id)",
        "a row for each endpoint",
    ),
    (
        "FROM invoice_file_bytes WHERE bytes >=",
        "a row for each head office",
    ),
    (
        "INDEX payment_orders_open",
        "what is open at the moment, when an operator erases a person",
    ),
    ("FROM operators", "those who work for the platform"),
    (
        "SELECT (SELECT count(*) FROM supplier_invitations WHERE supplier_id",
        "when an operator asks what is kept of a person",
    ),
    (
        "FROM suppressed_addresses s WHERE (SELECT o.supplier_cnpj",
        "when an operator asks what is kept of a person",
    ),
    (
        "DELETE FROM platform_replies WHERE body LIKE",
        "when an operator erases a person",
    ),
];
/// SQL that the pass does not reach, and why.
const UNREACHED: [(&str, &str); 24] = [
    ("rows/key.rs: CROSS JOIN LATERAL", "PostgreSQL alone"),
    (" pg_", "PostgreSQL alone"),
    ("FOR KEY SHARE", "PostgreSQL alone"),
    ("FOR NO KEY UPDATE", "PostgreSQL alone"),
    ("FOR UPDATE", "PostgreSQL alone"),
    ("xmin", "PostgreSQL alone"),
    ("unnest(", "PostgreSQL alone"),
    ("sql/newest.rs: )) AS listed", "PostgreSQL alone"),
    ("sql/newest.rs: = listed.key", "PostgreSQL alone"),
    ("sql/queries.rs: SELECT id FROM (", "PostgreSQL alone"),
    (
        "sql/queries.rs: GROUP BY head_office_id",
        "PostgreSQL alone",
    ),
    (
        "sql/queries.rs: head_office_id IN",
        "lists over all companies: `plans`",
    ),
    (
        "sql/queries.rs: AND +status IN",
        "lists of several statuses",
    ),
    (
        "FROM operation_counts WHERE status IN",
        "a row for each head office and status",
    ),
    ("claim.rs: UPDATE", "one by its id, which cannot be read"),
    ("WHERE seal = $1", "the rows of one seal, by its index"),
    ("AS counted", "the files of one head office, by an audit"),
    ("sandbox/mark.rs", "one row of a sandbox"),
    ("sqlite/sandbox.rs", "the start of a sandbox"),
    ("sqlite/open.rs", "the start"),
    ("sqlite/backup.rs", "a backup, which reads everything"),
    ("sqlite/checkup.rs", "`doctor`: a version"),
    ("sqlite/identity.rs", "one row"),
    ("sqlite/migrations.rs", "the start"),
];
/// Read a table from end to end, and all of a head office.
const PLANTED: [&str; 2] = [
    "SELECT count(*) FROM operations WHERE amount_cents + 0 = 1",
    "SELECT count(*) FROM operations WHERE head_office_id = 1 AND amount_cents + 0 = 1",
];
/// Endpoints, a few for each company, and the table of sequences, whole.
const SMALL: [&str; 2] = ["SCAN e", "SCAN sqlite_sequence"];

/// The lines of a statement's plan that read a table or one of its indexes from end to end, or all that a large one has of
/// a head office.
async fn scans(
    sql: &mut SqliteConnection,
    tables: &BTreeSet<String>,
    statement: &str,
) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let plan = sqlx::raw_sql(sqlx::AssertSqlSafe(explain));
    let lines = plan.fetch_all(sql).await;
    let lines = lines.unwrap_or_else(|error| panic!("{error}: {statement}"));
    let lines = lines.iter().map(|line| line.get::<String, _>("detail"));
    let named = names(tables, statement);
    let large = names(&LARGE.map(str::to_owned).into(), statement);
    let is_scan = |line: &String| {
        let mut words = line.split_whitespace();
        let (what, name) = (words.next(), words.next().unwrap_or_default());
        match what {
            Some("SCAN") => named.contains(name),
            Some("SEARCH") => large.contains(name) && line.contains(" (head_office_id=?)"),
            _ => false,
        }
    };
    lines.filter(is_scan).collect()
}

/// The tables of a statement with their aliases, as its plan names them.
fn names(tables: &BTreeSet<String>, statement: &str) -> BTreeSet<String> {
    let words: Vec<&str> = statement
        .split(|it: char| !(it.is_alphanumeric() || it == '_'))
        .filter(|it| !it.is_empty())
        .collect();
    let mut names = BTreeSet::new();
    for (place, word) in words.iter().enumerate() {
        if tables.contains(*word) {
            let mut alias = words.iter().skip(place + 1).filter(|it| **it != "AS");
            names.insert((*word).to_owned());
            names.extend(alias.next().map(|it| (*it).to_owned()));
        }
    }
    names
}

/// The lines of plans that read a table from end to end, each with its statement.
async fn found(fixture: &Fixture, statements: &BTreeSet<String>) -> Vec<String> {
    let mut sql = fixture.sql.acquire().await.unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    let names = sqlx::query_scalar(names).fetch_all(&mut *sql).await;
    let names: Vec<String> = names.unwrap();
    let is_large = |name: &String| !TINY.contains(&name.as_str());
    let tables: BTreeSet<String> = names.into_iter().filter(is_large).collect();
    let mut found = Vec::new();
    for statement in statements {
        let text = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        for line in scans(&mut sql, &tables, statement).await {
            if !SMALL.contains(&line.as_str()) {
                found.push(format!("{line}: {text}"));
            }
        }
    }
    found
}

#[tokio::test]
async fn no_statement_reads_a_table_from_end_to_end_but_for_a_named_reason() {
    let heard = Statements::listen();
    let scene = Scene::new().await;
    let statements = scene.statements(&heard).await;
    let empty = Fixture::new().await;
    let mut all = found(&empty, &statements).await;
    all.extend(found(&scene.fixture, &statements).await);
    scene.fill().await;
    all.extend(found(&scene.fixture, &statements).await);
    let has_statistics = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'";
    let count: i64 = sqlx::query_scalar(has_statistics)
        .fetch_one(&scene.fixture.sql)
        .await
        .unwrap();
    assert_eq!(count, 0, "nobody has analysed the tables");
    let is_permitted = |it: &&String| PERMITTED.iter().any(|(name, _)| it.contains(name));
    let many: BTreeSet<_> = all.iter().filter(|it| !is_permitted(it)).collect();
    assert!(many.is_empty(), "{many:#?}");
    let is_needed = |name: &str| all.iter().any(|it| it.contains(name));
    let unneeded = PERMITTED.iter().filter(|(name, _)| !is_needed(name));
    let unneeded: Vec<_> = unneeded.collect();
    assert!(unneeded.is_empty(), "{unneeded:#?}");
    for planted in PLANTED {
        let planted = [planted.to_owned()].into();
        assert_eq!(found(&empty, &planted).await.len(), 1, "{planted:?}");
    }
}

#[tokio::test]
async fn every_statement_is_passed_but_for_a_named_reason() {
    let heard = Statements::listen();
    let scene = Scene::new().await;
    let mut executed = scene.statements(&heard).await;
    search(&scene.fixture).await;
    executed.extend(heard.take());
    let missing = literals::missing("sqlite", &executed, &UNREACHED);
    assert!(missing.is_empty(), "{missing:#?}");
}
