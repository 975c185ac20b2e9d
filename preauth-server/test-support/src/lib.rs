//! Common to the server's tests: databases, servers and sandboxes that run the real binary, callers
//! and receivers.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]
#![expect(
    clippy::must_use_candidate,
    missing_debug_implementations,
    reason = "no API for others: only the tests beside it call it"
)]

mod authority;
mod backend;
mod body;
pub mod cluster;
mod database;
mod form;
mod mail_server;
pub mod office;
mod own_cluster;
mod program;
mod raw;
mod receiver;
mod sandbox;
mod scratch;
mod server;
mod settable_clock;
mod socket;
pub mod travel;
mod wrong_clock;

pub use authority::Authority;
pub use backend::{Backend, Home, write_secret};
pub use body::{offer_body, with};
pub use database::Database;
pub use form::Form;
pub use mail_server::{MailServer, Manner};
pub use own_cluster::OwnCluster;
pub use program::server_program;
pub use raw::{Answer, RawCaller};
pub use receiver::{Arrived, TestReceiver};
pub use sandbox::{Sandbox, due_date};
pub use scratch::Scratch;
pub use server::{LOG_EVERYTHING, Server};
pub use settable_clock::SettableClock;
pub use socket::{connect, exchange, first_answer};
pub use wrong_clock::{faketime, set_by};
