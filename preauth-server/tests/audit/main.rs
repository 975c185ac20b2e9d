//! The audit finds nothing in a database that servers work on, and finds each violated rule, on
//! SQLite and on PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "in a test a panic is the report of a failure"
)]

mod backup;
mod command;
mod corruption;
mod erasures;
mod lists;
mod pages;
mod seals;
mod unreadable;
mod upgrades;
mod world;
