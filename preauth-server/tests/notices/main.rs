//! Mails of the real binary: content, recipients, and failures of delivery, on SQLite and on
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

#[expect(dead_code, reason = "the endpoints' tests use more of it")]
#[path = "../endpoints/authority.rs"]
mod authority;
#[path = "../store_postgres/cluster.rs"]
mod cluster;
#[expect(dead_code, reason = "the stores' tests use more of it")]
#[path = "../store_postgres/database.rs"]
mod database;
#[expect(dead_code, reason = "the sandbox's tests use more of it")]
#[path = "../sandbox/travel.rs"]
mod travel;

mod again;
mod crash;
mod eml;
mod faults;
mod mail_server;
mod office;
mod pause;
mod sending;
mod share;
mod tls;
mod unreadable;
