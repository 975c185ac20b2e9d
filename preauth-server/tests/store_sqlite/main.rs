//! The SQLite store: the tests of both stores, and those of its own guarantees.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report of a failure"
)]

#[path = "../store/mod.rs"]
mod store;

mod all_plans;
mod database;
mod durability;
mod filling;
mod groups;
mod mass_changes;
mod migration;
mod opening;
mod pass;
mod plans;
mod records;
mod statements;
mod statistics;
