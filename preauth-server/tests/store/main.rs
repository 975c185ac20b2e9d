//! The SQLite store: the public suite of the core, and tests of its own guarantees.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report of a failure"
)]

mod access;
mod api_keys;
mod companies;
mod conformance;
mod database;
mod deliveries;
mod durability;
mod earlier;
mod endpoints;
mod expiry;
mod files;
mod fixture;
mod host;
mod housekeeping;
mod invitations;
mod lists;
mod mails;
mod migration;
mod opening;
mod records;
mod settling;
mod tenants;
mod unreadable;
mod users;
mod watch;
