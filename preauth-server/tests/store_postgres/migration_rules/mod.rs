//! No migration disturbs instances of the previous version: it removes nothing they use, and blocks
//! none of their writes.

mod planted;
mod rules;
mod statements;

use std::path::Path;

use rules::{contracts, violations};

use crate::store::fixture::Fixture;

const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
/// Earlier migrations ran on databases without running instances.
const FIRST_UNDER_RULES: i64 = 6;

/// Number and text of each migration of a database, the oldest first.
fn steps(database: &str) -> Vec<(i64, String)> {
    let files = std::fs::read_dir(Path::new(MIGRATIONS).join(database)).unwrap();
    let step = |file: std::io::Result<std::fs::DirEntry>| {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let (version, _) = name.split_once('_').unwrap();
        let sql = std::fs::read_to_string(file.path()).unwrap();
        (version.parse().unwrap(), sql)
    };
    let mut steps: Vec<_> = files.map(step).collect();
    steps.sort();
    steps
}

#[test]
fn no_step_stops_the_instances_of_the_version_before_it() {
    for database in ["postgres", "sqlite"] {
        let mut is_after_contraction = false;
        for (version, sql) in steps(database) {
            if version >= FIRST_UNDER_RULES {
                let violations = violations(&sql, database == "postgres", is_after_contraction);
                assert!(
                    violations.is_empty(),
                    "{database} {version}: {violations:#?}"
                );
            }
            is_after_contraction = contracts(&sql);
        }
    }
}

#[test]
fn both_databases_have_the_same_steps() {
    let numbers = |database| steps(database).into_iter().map(|(version, _)| version);
    assert!(numbers("postgres").eq(numbers("sqlite")));
}

#[tokio::test]
async fn every_step_in_the_folder_is_taken() {
    let fixture = Fixture::new().await;
    let taken: Vec<i64> =
        sqlx::query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version")
            .fetch_all(&fixture.sql)
            .await
            .unwrap();
    let steps: Vec<_> = steps("postgres")
        .into_iter()
        .map(|(version, _)| version)
        .collect();
    assert_eq!(taken, steps);
}
