//! What operators see of a running server: metrics and probes of the real binary, on SQLite and on
//! PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on has failed"
)]

#[macro_use]
#[expect(dead_code, unused_imports, reason = "the API's tests use more of it")]
#[path = "../api/support/mod.rs"]
mod support;

#[path = "../store_postgres/cluster.rs"]
mod cluster;
#[path = "../store_postgres/database.rs"]
mod database;

mod clocks;
mod copies;
mod documentation;
mod durability;
mod exposition;
mod labels;
mod lost_database;
mod served;
mod server;
mod shutdown;
mod traffic;
