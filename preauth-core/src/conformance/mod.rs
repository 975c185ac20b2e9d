//! What every host must show, as a suite that anybody's own host can be held to.
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
//! The cases are plain functions too, under [`cases`]. Each brings companies, ids and keys of its
//! own, so that all of them may run at the same time on one database, with one exception: a claim
//! takes whatever is due, so the cases of [`cases::deliveries`], [`cases::leases`],
//! [`cases::schedules`], [`cases::pauses`] and [`cases::races`] want a database without anybody
//! else's deliveries. A macro call with a host on an empty database for each case is always right.
//!
//! [`model_run`] holds a host, under the real service, to a second opinion on everything that can
//! happen to an operation.
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
