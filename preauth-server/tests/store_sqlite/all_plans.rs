//! Plans of every statement of one pass over the store: creates, the work after them, reads, the janitor and
//! an audit. No table is read from end to end but for a named reason. There are no statistics, see `statistics`.

use std::collections::BTreeSet;

use sqlx::Row as _;
use sqlx::sqlite::SqliteConnection;

use crate::pass::Scene;
use crate::statements::Statements;
use crate::store::fixture::Fixture;

/// Tables with one row, or a row for each step of the schema.
const TINY: [&str; 4] = [
    "_sqlx_migrations",
    "deployment",
    "schema_compatibility",
    "event_numbers",
];
/// Parts of plans and of statements that may read a table or an index from end to end.
const PERMITTED: [&str; 10] = [
    // The index has what is leased at the moment, what waits after a failure, or what fails.
    "INDEX deliveries_leased",
    "INDEX deliveries_retried_of_endpoint",
    "INDEX endpoints_failing",
    // Once a minute; a row for each company.
    "INDEX endpoints_one_per_head_office",
    // From the front, until one is found or so many were read.
    "INDEX notices_due",
    "FROM event_feed ORDER BY number LIMIT",
    "ORDER BY after_number DESC LIMIT 1",
    "ORDER BY id DESC LIMIT 1",
    "ORDER BY number DESC LIMIT 1",
    // The contact of one company, which has the name of a table in the statement.
    "WITH company (id, contact)",
];
/// Endpoints, a few for each company, and the table of sequences, whole.
const SMALL: [&str; 2] = ["SCAN e", "SCAN sqlite_sequence"];

/// The lines of a statement's plan that read a table or one of its indexes from end to end.
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
    let is_scan = |line: &String| {
        let mut words = line.split_whitespace();
        words.next() == Some("SCAN") && words.next().is_some_and(|name| named.contains(name))
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

/// The statements that read more than they may.
async fn found(
    fixture: &Fixture,
    state: &str,
    statements: &BTreeSet<String>,
    permitted: &[&str],
) -> Vec<String> {
    let mut sql = fixture.sql.acquire().await.unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    let names = sqlx::query_scalar(names).fetch_all(&mut *sql).await;
    let names: Vec<String> = names.unwrap();
    let is_large = |name: &String| !TINY.contains(&name.as_str());
    let tables: BTreeSet<String> = names.into_iter().filter(is_large).collect();
    let mut found = Vec::new();
    for statement in statements {
        let text = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_permitted = |place: &str| permitted.iter().any(|it| place.contains(it));
        for line in scans(&mut sql, &tables, statement).await {
            if !SMALL.contains(&line.as_str()) && !is_permitted(&line) && !is_permitted(&text) {
                found.push(format!("{state}: {line}: {text}"));
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
    assert!(statements.len() > 100, "{}", statements.len());
    for kind in ["SELECT", "INSERT", "UPDATE", "DELETE"] {
        let is_there = statements
            .iter()
            .any(|it| it.trim_start().starts_with(kind));
        assert!(is_there, "no {kind}");
    }
    let empty = Fixture::new().await;
    let mut all = found(&empty, "empty", &statements, &PERMITTED).await;
    all.extend(found(&scene.fixture, "few rows", &statements, &PERMITTED).await);
    scene.fill().await;
    all.extend(found(&scene.fixture, "many rows", &statements, &PERMITTED).await);
    let has_statistics = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'";
    let count: i64 = sqlx::query_scalar(has_statistics)
        .fetch_one(&scene.fixture.sql)
        .await
        .unwrap();
    assert_eq!(count, 0, "nobody has analysed the tables");
    assert!(all.is_empty(), "{all:#?}");
}
