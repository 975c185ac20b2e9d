//! The rules, held to tables that were written down apart from the code, and to properties.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod amounts;
mod begin;
mod expiry;
mod extensions;
mod four_eyes;
mod given;
mod orders;
mod table;
mod walks;
