//! The platform API over HTTP: the actions of suppliers, companies, the bank and the platform, and
//! their events, on the real binary and both databases.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on has failed"
)]

mod audit_log;
mod bad_input;
mod credentials;
mod endpoints;
mod events;
mod four_eyes;
mod held_rows;
mod hosts;
mod idempotency;
mod integration_view;
mod invitations;
mod keys;
mod leaked_keys;
mod life;
mod operators;
mod payment_orders;
mod personal_data;
mod possible_actions;
mod races;
mod records;
mod refusals;
mod reports;
mod resend_range;
mod routes;
mod scene;
mod story;
mod suspensions;
mod table;
mod two_tokens;
