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

mod again;
mod crash;
mod eml;
mod failing;
mod faults;
mod pause;
mod removed;
mod sending;
mod share;
mod tls;
mod unreadable;
