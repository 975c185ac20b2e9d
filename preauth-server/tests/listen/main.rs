//! `listen` as developers use it: the real binary with a real sandbox.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod conduct;
mod deliveries;
mod listener;
mod start;
