//! The service as callers see it: the real binary over real sockets, through the real client and
//! raw requests.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on has failed"
)]

mod bad_inputs;
mod batch;
mod cancel;
mod clients;
mod connections;
mod create;
mod event_waits;
mod events;
mod files;
mod hygiene;
mod idempotency;
mod identity;
mod legal_entities;
mod list;
mod log;
mod master_keys;
mod operating;
mod process;
mod races;
#[cfg(feature = "s3")]
mod s3;
mod slow_bodies;
mod strangers;
mod texts;
mod validate;
mod webhooks;
mod windows;
mod write_lock;
