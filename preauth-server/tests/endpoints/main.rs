//! Where webhooks may be sent, enforced by the real binary: a DNS server and TLS receivers of the
//! tests stand in for the network, honest and hostile.
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
#[expect(
    dead_code,
    reason = "a server under test is asked over HTTP, not in SQL"
)]
#[path = "../store_postgres/database.rs"]
mod database;

mod authority;
mod configuration;
mod connection;
mod dns;
mod endless;
mod house;
mod receiver;
mod registration;
mod resolution;
