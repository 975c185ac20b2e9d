//! `listen` as developers use it: the real binary with a real sandbox.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[expect(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "shared with the tests of the API, which use more of it"
)]
#[path = "../api/support/mod.rs"]
mod support;

mod conduct;
mod deliveries;
mod listener;
mod start;

#[path = "../store_postgres/cluster.rs"]
mod cluster;
#[expect(
    dead_code,
    reason = "a server under test is asked over HTTP, not in SQL"
)]
#[path = "../store_postgres/database.rs"]
mod database;
