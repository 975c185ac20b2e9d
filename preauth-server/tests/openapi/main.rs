//! The descriptions of both APIs are valid and checked in, describe exactly the routes that exist,
//! and match the answers of the real binary.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[macro_use]
#[expect(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::expect_used,
    reason = "shared with the tests of the API, which use more of it"
)]
#[path = "../api/support/mod.rs"]
mod support;

#[path = "../notices/mail_server.rs"]
#[expect(dead_code, reason = "shared with targets that use all of it")]
mod mail_server;
#[path = "../notices/office.rs"]
#[expect(dead_code, reason = "shared with targets that use all of it")]
mod office;

mod compatibility;
mod description;
mod documents;
mod integration;
mod platform;
mod routes;
mod webhook;
mod witness;

#[path = "../store_postgres/cluster.rs"]
mod cluster;
#[expect(
    dead_code,
    reason = "a server under test is asked over HTTP, not in SQL"
)]
#[path = "../store_postgres/database.rs"]
mod database;
