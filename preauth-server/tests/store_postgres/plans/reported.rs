//! The plans of the store's own statements, as the server reports them.
//!
//! `auto_explain` sends the plan of every statement, including those in triggers and foreign key
//! checks, to the session that executes it.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::Value;
use test_support::Database;

use crate::notices::Notices;
use crate::store::fixture::Fixture;

/// Settings of the sessions that start from now on.
const SETTINGS: [(&str, &str); 7] = [
    ("session_preload_libraries", "auto_explain"),
    ("auto_explain.log_min_duration", "0"),
    ("auto_explain.log_level", "notice"),
    ("auto_explain.log_format", "json"),
    ("auto_explain.log_analyze", "on"),
    ("auto_explain.log_buffers", "on"),
    ("auto_explain.log_nested_statements", "on"),
];

/// The plans reported on this thread.
pub(super) struct Plans {
    notices: Notices,
    /// The statements of those that were taken.
    statements: Mutex<BTreeSet<String>>,
}

/// The rows that one statement read from one table.
pub(super) struct Scan {
    pub(super) relation: String,
    /// Rows that were read, matching or not.
    pub(super) rows: f64,
    /// Pages that were read.
    pub(super) pages: f64,
    /// The index, its condition and what is asked of the rows besides; empty for none.
    pub(super) index: String,
    pub(super) condition: String,
    pub(super) filter: String,
    /// The statement, and the node of its plan.
    pub(super) place: String,
}

impl Plans {
    /// Makes the sessions of a database report their plans, and subscribes.
    pub(super) async fn of(database: &Database) -> Self {
        Self {
            notices: Notices::of(database, &SETTINGS).await,
            statements: Mutex::default(),
        }
    }

    /// Everything read since the last call.
    pub(super) fn scans(&self) -> Vec<Scan> {
        let mut scans = Vec::new();
        for notice in self.notices.take() {
            let Some((_, plan)) = notice.split_once("plan:\n") else {
                continue;
            };
            let report: Value = serde_json::from_str(plan).unwrap();
            let statement = report
                .get("Query Text")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let plan = report.get("Plan").unwrap_or(&Value::Null);
            collect(plan, statement, &mut scans);
            self.statements.lock().unwrap().insert(statement.to_owned());
        }
        scans
    }

    /// Every statement of which a plan was taken so far.
    pub(super) fn statements(&self) -> BTreeSet<String> {
        self.statements.lock().unwrap().clone()
    }
}

/// Adds the reads of a plan's node and of the nodes below it.
#[expect(
    clippy::float_arithmetic,
    reason = "a plan has averages over its loops"
)]
fn collect(node: &Value, statement: &str, scans: &mut Vec<Scan>) {
    let kind = node["Node Type"].as_str().unwrap_or_default();
    let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
    // A bitmap's index and condition are those of the node below, which what is asked once comes before.
    let is_outer = |it: &&Value| it["Parent Relationship"] == "Outer";
    let text = |name: &str| {
        let below = node["Plans"].as_array().into_iter().flatten();
        let below = below.filter(|_| kind == "Bitmap Heap Scan").find(is_outer);
        let node = below.unwrap_or(node);
        node[name].as_str().unwrap_or_default().to_owned()
    };
    if let Some(relation) = node["Relation Name"].as_str()
        && kind != "ModifyTable"
    {
        let at_once = number("Actual Rows")
            + number("Rows Removed by Filter")
            + number("Rows Removed by Index Recheck");
        scans.push(Scan {
            relation: relation.to_owned(),
            rows: at_once * number("Actual Loops"),
            pages: number("Shared Hit Blocks") + number("Shared Read Blocks"),
            index: text("Index Name"),
            condition: text("Index Cond"),
            filter: node["Filter"].as_str().unwrap_or_default().to_owned(),
            place: place(node, statement),
        });
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        collect(child, statement, scans);
    }
}

/// The line of a node in a plan, after the beginning of the statement.
fn place(node: &Value, statement: &str) -> String {
    let shown = ["Node Type", "Index Name", "Index Cond", "Filter"];
    let mut line: Vec<&str> = shown.iter().filter_map(|it| node[*it].as_str()).collect();
    let statement: String = statement.chars().take(300).collect();
    let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    line.push(&statement);
    line.join(" / ")
}

/// Runs statements without reporting their plans, and without checking foreign keys, which takes longer than the rows do.
pub(super) async fn run_unseen(fixture: &Fixture, statements: &str) {
    let mut session = fixture.sql.acquire().await.unwrap();
    let sql = format!(
        "SET auto_explain.log_min_duration = -1; SET session_replication_role = replica; {statements}"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(&mut *session)
        .await
        .unwrap();
}
