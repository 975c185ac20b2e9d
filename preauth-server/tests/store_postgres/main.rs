//! The PostgreSQL store: the tests of both stores, and those of its own guarantees.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report of a failure"
)]

#[path = "../store/mod.rs"]
mod store;

mod clocks;
mod counts;
mod feed;
mod instances;
mod locks;
mod mail_pages;
mod migration;
mod migration_rules;
mod notices;
mod opening;
mod overdue;
mod plans;
mod promotion;
mod rate_counts;
mod records;
mod restored_feed;
mod warm_up;

/// The database of the shared files.
mod database {
    pub(crate) use test_support::Database;

    pub(crate) type Sql = sqlx::PgPool;
}
