//! The functions of the host in memory beyond the ports.
#![expect(
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod extensions;
mod given;
mod resending;
