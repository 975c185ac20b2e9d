//! Statistics of tables, which the store does without. Somebody else's tool may make them; by those of small tables SQLite
//! would read the same tables from end to end once they are large.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Row as _;

use crate::pass::Scene;
use crate::statements::Statements;
use crate::store::fixture::Fixture;

/// What a tool leaves that knew the tables with a few rows each, and statistics by which no index finds less than the table.
const MADE_BY_OTHERS: [&str; 2] = [
    "ANALYZE",
    "ANALYZE;
     DELETE FROM sqlite_stat1;
     INSERT INTO sqlite_stat1 (tbl, idx, stat)
         SELECT m.tbl_name, m.name, '1000000' || (
             SELECT group_concat(' 1000000', '') FROM pragma_index_info(m.name))
         FROM sqlite_schema m WHERE m.type = 'index';
     ANALYZE sqlite_schema",
];

type Plans = BTreeMap<String, Vec<String>>;

/// The plan of each statement.
async fn plans(fixture: &Fixture, statements: &BTreeSet<String>) -> Plans {
    let mut plans = BTreeMap::new();
    let mut sql = fixture.sql.acquire().await.unwrap();
    // Only a statement that reads finds that the schema has changed; asking for its plan does not.
    let read = sqlx::query("SELECT count(*) FROM companies").fetch_one(&mut *sql);
    read.await.unwrap();
    for statement in statements {
        let explain = format!("EXPLAIN QUERY PLAN {statement}");
        let lines = sqlx::raw_sql(sqlx::AssertSqlSafe(explain)).fetch_all(&mut *sql);
        let lines = lines.await.unwrap();
        let lines = lines.iter().map(|line| line.get("detail")).collect();
        plans.insert(statement.clone(), lines);
    }
    plans
}

/// The statements with another plan.
fn changed(before: &Plans, after: &Plans) -> Vec<String> {
    let changed = before
        .iter()
        .filter(|(text, plan)| after.get(*text) != Some(plan));
    changed
        .map(|(text, plan)| format!("{text}: {plan:#?} became {:#?}", after.get(text)))
        .collect()
}

/// Makes statistics beside the store; returns how many plans they change.
async fn make(fixture: &Fixture, sql: &'static str, before: &Plans) -> usize {
    sqlx::raw_sql(sql).execute(&fixture.sql).await.unwrap();
    let statements = before.keys().cloned().collect();
    changed(before, &plans(fixture, &statements).await).len()
}

#[tokio::test]
async fn statistics_that_another_program_made_change_no_plan_after_the_next_start() {
    let heard = Statements::listen();
    let mut scene = Scene::new().await;
    let statements = scene.statements(&heard).await;
    let before = plans(&scene.fixture, &statements).await;
    for (n, sql) in MADE_BY_OTHERS.into_iter().enumerate() {
        assert!(make(&scene.fixture, sql, &before).await > 10, "{sql}");
        scene.fixture.stores.lifecycle.close().await;
        let namespace = u64::try_from(n).unwrap() + 2;
        scene.fixture = Fixture::on(&scene.fixture.database, namespace).await;
        let changed = changed(&before, &plans(&scene.fixture, &statements).await);
        assert!(changed.is_empty(), "{sql}: {changed:#?}");
    }
}

#[tokio::test]
async fn statistics_that_another_program_makes_beside_the_server_are_removed() {
    let heard = Statements::listen();
    let scene = Scene::new().await;
    let statements = scene.statements(&heard).await;
    let before = plans(&scene.fixture, &statements).await;
    for sql in MADE_BY_OTHERS {
        assert!(make(&scene.fixture, sql, &before).await > 10, "{sql}");
        let house = &scene.fixture.stores.housekeeping;
        house.sum_up_counts(1).await.unwrap();
        let changed = changed(&before, &plans(&scene.fixture, &statements).await);
        assert!(changed.is_empty(), "{sql}: {changed:#?}");
    }
}
