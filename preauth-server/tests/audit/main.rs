//! The audit finds nothing in a database that servers work on, and finds each violated rule, on
//! SQLite and on PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "in a test a panic is the report of a failure"
)]

#[expect(
    dead_code,
    unused_imports,
    reason = "shared with the tests of the API, which use more of it"
)]
#[macro_use]
#[path = "../api/support/mod.rs"]
mod support;

mod backup;
mod command;
mod corruption;
mod pages;
mod scratch;
mod world;

#[path = "../store_postgres/cluster.rs"]
mod cluster;
#[expect(
    dead_code,
    reason = "shared with the tests of the store, which use more of it"
)]
#[path = "../store_postgres/database.rs"]
mod database;
