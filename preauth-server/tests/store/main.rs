//! The SQLite store, held to the public suite of the core and to promises of its own.
#![expect(
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod conformance;
mod host;
mod records;
