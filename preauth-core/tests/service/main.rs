//! The service over a host that fails: what it answers, and that it ends.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod announcements;
mod commands;
mod faulty;
mod given;
mod interleavings;
mod offers;
mod once;
mod orders;
mod preparations;
