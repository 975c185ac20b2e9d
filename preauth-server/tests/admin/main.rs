//! The administration commands: the real binary against a real server.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "../api/support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "shared with the target `api`, which uses all of it"
)]
mod support;

mod connecting;
mod deliveries;
mod exit_codes;
mod operations;
mod operator;
mod people;
mod questions;
mod readme;
mod starting;
