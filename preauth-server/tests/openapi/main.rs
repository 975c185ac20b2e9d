//! The descriptions of both APIs are valid and checked in, describe exactly the routes that exist,
//! and match the answers of the real binary.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod compatibility;
mod description;
mod documents;
mod integration;
mod platform;
mod routes;
mod webhook;
mod witness;
