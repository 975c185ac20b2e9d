//! The conformance suite: a host of your own must pass it.
//!
//! A backend implements [`Host`] and calls [`conformance_suite!`](crate::conformance_suite) once;
//! each case becomes a test of its own:
//!
//! ```text
//! preauth_core::conformance_suite! {
//!     #[tokio::test(flavor = "multi_thread")]
//!     MyHost::on_an_empty_database().await
//! }
//! ```
//!
//! The cases are also plain functions, under [`cases`]. Each uses companies, ids and keys of its own,
//! so all of them may run at the same time on one database, with one exception: a claim takes all due
//! deliveries, so the cases of [`cases::deliveries`], [`cases::leases`], [`cases::schedules`],
//! [`cases::pauses`] and [`cases::races`] need a database without other deliveries. An empty database
//! for each case, as in the macro call above, is always correct.
//!
//! [`model_run`] runs random commands through the real service over a host, and compares the result
//! with an independent model of operations.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "in a suite a panic is the report of a failure"
)]

pub mod cases;

mod draft;
mod host;
mod model;
mod post;
mod render;
mod scene;
mod suite;

pub use host::{Host, Task};
pub use model::{model_run, model_script};
