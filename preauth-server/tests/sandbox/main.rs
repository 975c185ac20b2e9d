//! The sandbox as a place to learn: time travel, magic values and commands, on the real binary; and
//! that `serve` has none of them.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod clock;
mod magic;
mod readme;
mod served;
mod terminal;
mod travel;

#[expect(
    dead_code,
    unused_imports,
    reason = "shared with the tests of the API, which use more of it"
)]
#[path = "../api/support/mod.rs"]
mod support;
