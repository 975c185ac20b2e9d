//! Rules and state of receivables-advance pre-authorizations, without transport, runtime or
//! database.
//!
//! A construction company offers a supplier an advance on an invoice; the supplier asks for it or
//! declines, the company may cancel, time may expire the offer. This crate says what each of these
//! does, and nothing about how it is asked for or where it is kept:
//!
//! - [`value`]: what a field may hold, parsed once at the edge;
//! - [`operation`]: the transition table, [`operation::decide`] and [`operation::evolve`];
//! - [`payment_order`]: the second, smaller aggregate, built the same way;
//! - [`delivery`]: who hears of an event, and when an attempt is repeated;
//! - [`port`]: what a host must provide ([`port::Store`], [`port::Outbox`], [`port::Queries`]);
//! - [`service`]: load, decide, evolve, commit;
//! - [`audit`]: whether what is stored is what the rules lead to;
//! - [`memory`]: a host in memory, for embedding and for tests;
//! - `conformance` (feature): what every host must show, as a suite;
//! - [`wire`]: the JSON shapes, which know the values and none of the rules;
//!
//! Time and ids come in as values: nothing here reads a clock or draws a random number.
//!
//! # What may grow
//!
//! A later version may add a status, code, event type, stage, command, kind of error or field of the JSON
//! without being a new major one, because the contract may. These types are `non_exhaustive`: match with
//! `_`, and build with the constructors. What [`port`] hands to a store is not: a store that ignored a new
//! field would lose data, so there a new one breaks the build.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod audit;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod delivery;
mod error_code;
mod explained;
pub mod memory;
pub mod operation;
pub mod payment_order;
mod policy;
pub mod port;
mod received_invoice;
pub mod service;
pub mod value;
pub mod wire;

pub use error_code::ErrorCode;
pub use policy::Policy;
pub use received_invoice::ReceivedInvoice;
