//! The table of metrics is complete and lists no metric that does not exist.

use std::collections::BTreeSet;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{Backend, Sandbox, on_each_database};

use super::server::scrape;

on_each_database! {
    the_table_of_metrics_lists_exactly_what_is_exposed,
}

const TABLE: &str = include_str!("../../../../docs/metrics.md");

/// Name and type of every row that applies to this database.
fn documented(backend: Backend) -> BTreeSet<(String, String)> {
    let absent = match backend {
        Backend::Sqlite => "PostgreSQL only",
        Backend::Postgres => "SQLite only",
    };
    let rows = TABLE.lines().filter(|line| line.starts_with("| `p"));
    rows.filter(|row| !row.contains(absent))
        .map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let name = cells.next().unwrap().trim_matches('`').to_owned();
            (name, cells.next().unwrap().to_owned())
        })
        .collect()
}

async fn the_table_of_metrics_lists_exactly_what_is_exposed(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    sandbox.stranger().get(PRE_AUTHORIZATIONS).await;
    let scraped = scrape(&sandbox).await;
    let exposed: BTreeSet<(String, String)> = scraped
        .families
        .iter()
        .map(|family| (family.name.clone(), family.kind.clone()))
        .collect();
    assert_eq!(exposed, documented(backend));
}
