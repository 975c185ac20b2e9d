//! Where webhooks may be sent, enforced by the real binary: a DNS server and TLS receivers of the
//! tests stand in for the network, honest and hostile.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on has failed"
)]

mod configuration;
mod connection;
mod dns;
mod endless;
mod house;
mod receiver;
mod registration;
mod resolution;
