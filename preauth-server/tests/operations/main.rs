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
