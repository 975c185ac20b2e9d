//! The service in a simulated world: several instances on one database, failing receivers, retrying
//! callers, racing users, and a jumping clock. One seed determines everything.
//!
//! The service, the dispatcher, the sweeper and the host in memory are the real ones. Every call of
//! a port passes one fault point ([`faults`]); every fact is recorded ([`history`]); when the run
//! has settled, a checker without knowledge of the code checks it ([`checker`]).
//!
//! `PREAUTH_SIM_SEED=123 cargo test -p preauth-server --test simulation asked_for` runs one seed
//! again.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    reason = "in a test a panic is the report of a failure"
)]

mod actors;
mod campaign;
mod checker;
mod clock;
mod coverage;
mod defect;
mod faults;
mod findings;
mod ground;
mod history;
mod letterbox;
mod machine;
mod mail_server;
mod mix;
mod newer;
mod random;
mod real;
mod receivers;
mod report;
mod scene;
mod seeds;
mod store;
mod world;
