//! The sandbox for learning: time travel, magic values and commands, on the real binary; and that
//! `serve` has none of them.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on has failed"
)]

#[expect(
    dead_code,
    unused_imports,
    reason = "shared with the tests of the API, which use more of it"
)]
#[macro_use]
#[path = "../api/support/mod.rs"]
mod support;

mod clock;
mod failures;
mod magic;
mod own_database;
mod page;
mod served;
mod terminal;
mod travel;

#[path = "../store_postgres/cluster.rs"]
mod cluster;
#[expect(
    dead_code,
    reason = "a server under test is asked over HTTP, not in SQL"
)]
#[path = "../store_postgres/database.rs"]
mod database;
