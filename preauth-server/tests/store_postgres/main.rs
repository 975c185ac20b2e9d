//! The PostgreSQL store: the public suite of the core, and tests of its own guarantees. The files
//! are those of SQLite, on another `database`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report of a failure"
)]

#[path = "../store/access.rs"]
mod access;
#[path = "../store/api_keys.rs"]
mod api_keys;
#[path = "../store/companies.rs"]
mod companies;
#[path = "../store/conformance.rs"]
mod conformance;
#[path = "../store/deliveries.rs"]
mod deliveries;
#[path = "../store/earlier.rs"]
mod earlier;
#[path = "../store/endpoints.rs"]
mod endpoints;
#[path = "../store/expiry.rs"]
mod expiry;
#[path = "../store/files.rs"]
mod files;
#[path = "../store/fixture.rs"]
mod fixture;
#[path = "../store/host.rs"]
mod host;
#[path = "../store/housekeeping.rs"]
mod housekeeping;
#[path = "../store/invitations.rs"]
mod invitations;
#[path = "../store/lists.rs"]
mod lists;
#[path = "../store/mails.rs"]
mod mails;
#[path = "../store/settling.rs"]
mod settling;
#[path = "../store/tenants.rs"]
mod tenants;
#[path = "../store/unreadable.rs"]
mod unreadable;
#[path = "../store/users.rs"]
mod users;
#[path = "../store/watch.rs"]
mod watch;

mod counts;
mod instances;
mod locks;
mod mail_pages;
mod migration;
mod migration_rules;
mod opening;
mod overdue;
mod plans;
mod promotion;
mod rate_counts;
mod records;

/// What the shared files call a database.
mod database {
    pub(crate) use test_support::Database;

    pub(crate) type Sql = sqlx::PgPool;
}
