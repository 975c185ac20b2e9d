//! The pre-authorization service: integration API, platform API, storage, dispatcher and command
//! line in one binary.
//!
//! The product is the binary. Of the library only [`testing`] is for other crates: the service
//! within the tests of a program that calls it. The other modules are public so that this crate's
//! own tests can use them; `ARCHITECTURE.md` describes them.

pub mod access;
mod admin;
pub mod announcement;
pub mod app;
mod attempt_words;
pub mod audit_trail;
pub mod backup;
pub mod cli;
pub mod clock;
pub mod config;
mod csv;
pub mod directory;
pub mod dispatcher;
#[cfg(test)]
mod doc_pages;
pub mod fair;
pub mod feed;
pub mod files;
mod hint;
pub mod hold;
pub mod hold_watch;
pub mod http;
pub mod ids;
pub mod invoice_files;
pub mod janitor;
mod labels;
pub mod language;
pub mod live;
pub mod log;
pub mod mail;
mod printable;
pub mod sandbox;
pub mod sealer;
pub mod secret;
pub mod service_manager;
mod span;
mod stdout;
pub mod store;
pub mod sweeper;
pub mod telemetry;
pub mod testing;
mod typed_amount;
pub mod vitals;
pub mod worker;
