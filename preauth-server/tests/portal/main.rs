//! The supplier's page on the real binary: its links, its forms, and what nobody may do with them, on
//! SQLite and on PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod answers;
mod browser;
mod forms;
mod forwarded;
mod headers;
mod links;
mod names;
mod readings;
mod scene;
mod served;
mod statuses;
mod suppression;
