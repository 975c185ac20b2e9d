//! The administration commands: the real binary against a real server.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod connecting;
mod csv;
mod database_network;
mod database_refused;
mod deliveries;
mod doctor;
#[cfg(feature = "s3")]
mod doctor_bucket;
mod doctor_clock;
mod exit_codes;
mod files;
mod impostors;
mod languages;
mod mails;
mod operations;
mod operator;
mod operators;
mod page;
mod payments;
mod people;
mod personal_data;
mod questions;
mod secret_files;
mod starting;
