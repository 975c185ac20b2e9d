//! The sandbox for learning: time travel, magic values and commands, on the real binary; and that
//! `serve` has none of them; `listen` beside a sandbox.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on has failed"
)]

mod clock;
mod failures;
mod listen;
mod magic;
mod own_database;
mod page;
mod probe;
mod served;
mod terminal;
#[cfg(feature = "otlp")]
mod traces;
