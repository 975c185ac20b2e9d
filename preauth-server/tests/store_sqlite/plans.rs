//! Plans of the statements that list over all companies: none reads a big table from end to end.
//!
//! The driver reports each statement that it executes; its plan is asked for afterwards.

use std::collections::BTreeSet;

use sqlx::Row as _;
use uuid::Uuid;

use crate::statements::Statements;
use crate::store::fixture::Fixture;
use crate::store::listings::{Filling, ROWS, Scene, assert_found};

const BIG: [&str; 6] = [
    "audit_log",
    "deliveries",
    "events",
    "notices",
    "operations",
    "payment_orders",
];
/// Indexes of what is rare: each has a few rows of its table.
const RARE: [&str; 8] = [
    "deliveries_due",
    "deliveries_failed_by_time",
    "deliveries_failed_newest",
    "deliveries_retried",
    "deliveries_retried_of_endpoint",
    "notices_due",
    "notices_not_sent",
    "payment_orders_of_status",
];

struct Sqlite;

impl Filling for Sqlite {
    fn numbers(&self) -> String {
        format!(
            "(WITH RECURSIVE numbers (n) AS (
                 SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ROWS})
              SELECT n FROM numbers) AS numbers"
        )
    }

    fn id(&self, number: &str) -> String {
        format!("CAST(printf('%016d', {number}) AS BLOB)")
    }

    fn uuid_of(&self, id: Uuid) -> String {
        format!("x'{}'", id.simple())
    }

    async fn columns(&self, fixture: &Fixture, table: &str) -> Vec<String> {
        let sql = format!("SELECT name FROM pragma_table_info('{table}')");
        let columns = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(&fixture.sql);
        columns.await.unwrap()
    }

    async fn execute(&self, fixture: &Fixture, sql: &str) {
        let done = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&fixture.sql);
        done.await.unwrap();
    }
}

fn is_read(statement: &str) -> bool {
    let text = statement.trim_start();
    text.starts_with("SELECT") || text.starts_with("WITH")
}

/// The lines of the statement's plan.
async fn plan(fixture: &Fixture, statement: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let plan = sqlx::raw_sql(sqlx::AssertSqlSafe(explain));
    let lines = plan.fetch_all(&fixture.sql).await.unwrap();
    lines.iter().map(|line| line.get("detail")).collect()
}

/// Those that read a big table from end to end.
async fn scans(fixture: &Fixture, statement: &str) -> Vec<String> {
    let lines = plan(fixture, statement).await.into_iter();
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
    let is_rare = |line: &String| {
        let mut words = line.split_whitespace();
        words.any(|word| RARE.contains(&word))
    };
    lines
        .filter(is_scan)
        .filter(|line| !is_rare(line))
        .collect()
}

/// Without statistics, which a server does not make.
#[tokio::test]
async fn lists_over_all_companies_search_for_what_is_rare_by_an_index() {
    let statements = Statements::listen();
    let fixture = Fixture::new().await;
    let scene = Scene::new(&fixture).await;
    scene.fill(&fixture, &Sqlite).await;
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for search in scene.searches() {
        let is_rare = search.is_rare(&scene);
        for page in search.pages(&scene) {
            statements.take();
            assert_found(&search, &scene, page, search.read(&fixture, page).await);
            let executed = statements.take();
            let executed = executed.into_iter().filter(|it| is_read(it));
            // Of what is nearly everything the newest are read until the page or the count is full.
            for statement in executed.filter(|_| is_rare) {
                if seen.insert(statement.clone()) {
                    let scans = scans(&fixture, &statement).await;
                    found.extend(
                        scans
                            .into_iter()
                            .map(|it| format!("{it}: {statement}: {search:?}")),
                    );
                }
            }
        }
    }
    assert!(seen.len() > 100, "{}", seen.len());
    assert!(found.is_empty(), "{found:#?}");
}

/// The newest are read until the page is full.
#[tokio::test]
async fn lists_of_what_waits_are_not_sorted_in_an_outage() {
    let statements = Statements::listen();
    let fixture = Fixture::new().await;
    let scene = Scene::new(&fixture).await.in_outage();
    scene.fill(&fixture, &Sqlite).await;
    let mut pages = 0;
    let mut sorted = Vec::new();
    for search in scene.searches() {
        for page in search.pages(&scene) {
            statements.take();
            assert_found(&search, &scene, page, search.read(&fixture, page).await);
            let executed = statements.take();
            for statement in executed.into_iter().filter(|it| is_read(it)) {
                pages += usize::from(statement.contains("OFFSET"));
                let plan = plan(&fixture, &statement).await.into_iter();
                let sorts =
                    plan.filter(|it| it.starts_with("MATERIALIZE") || it.starts_with("USE TEMP"));
                sorted.extend(sorts.map(|it| format!("{it}: {statement}: {search:?}")));
            }
        }
    }
    assert!(pages > scene.searches().len(), "{pages}");
    assert!(sorted.is_empty(), "{sorted:#?}");
}
