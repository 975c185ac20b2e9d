//! Rules and state of receivables-advance pre-authorizations, without transport, runtime or
//! database: for services that embed them, and for clients and receivers of their JSON.
//!
//! A construction company offers a supplier an advance on an invoice; the supplier requests it or
//! declines, the company may cancel, time may expire the offer. This crate decides what each of these
//! does, and nothing about how it is requested or where it is stored.
//!
//! ```
//! use preauth_core::operation::{
//!     Beside, Command, Decision, Invoice, InvoiceAmounts, Operation, Party, State, decide, evolve,
//! };
//! use preauth_core::value::{
//!     CompanyId, Money, OperationId, Origin, Status, Timestamp, Version,
//! };
//!
//! // Values are parsed once, at the edge, and valid from then on.
//! let party = |id: &str, cnpj: &str, name: &str| -> Result<Party, Box<dyn std::error::Error>> {
//!     let company = CompanyId::parse(id)?;
//!     Ok(Party { company, head_office: company, cnpj: cnpj.parse()?, name: name.parse()? })
//! };
//! let amounts = InvoiceAmounts::from_cents(Money::parse("12500.50")?, Money::ZERO);
//! let offered = Operation {
//!     id: OperationId::parse("1")?,
//!     version: Version::INITIAL,
//!     origin: Origin::PreAuth,
//!     payer: party("018f2f3a-0000-7000-8000-000000000001", "11.222.333/0001-81", "Construtora S.A.")?,
//!     supplier: party("018f2f3a-0000-7000-8000-000000000002", "12.ABC.345/01DE-35", "Fornecedor Ltda.")?,
//!     invoice: Invoice {
//!         amounts: amounts.ok_or("the amount is out of bounds")?,
//!         due_date: "2027-01-20".parse()?,
//!         number: Some("NF-1".parse()?),
//!     },
//!     external_reference: None,
//!     created_at: Timestamp::parse("2026-11-21T12:00:00Z")?,
//!     expires_at: Some(Timestamp::parse("2026-12-21T12:00:00Z")?),
//!     net_amount: None,
//!     state: State::InPreAuth,
//! };
//!
//! // Time is an argument. A decision is a value, and `evolve` alone changes a status.
//! let now = Timestamp::parse("2026-11-22T12:00:00Z")?;
//! let Decision::Change(change) = decide(&offered, &Command::Request, &Beside::default(), now)? else {
//!     return Err("a request always changes an offer".into());
//! };
//! let requested = evolve(&offered, &change);
//! assert_eq!(requested.status(), Status::ToApprove);
//!
//! // Too late to cancel: the supplier has requested the advance.
//! let refused = decide(&requested, &Command::Cancel, &Beside::default(), now).unwrap_err();
//! assert_eq!(refused.to_string(), "the supplier already requested the advance");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`memory`] has a complete program with a store: offer, request, webhooks.
//!
//! - [`value`]: what a field may hold, parsed once at the edge;
//! - [`operation`]: the transition table, [`operation::decide`] and [`operation::evolve`];
//! - [`access`]: who may do what: keys, responsible users, branches;
//! - [`payment_order`]: the second, smaller aggregate, built the same way;
//! - [`delivery`]: who receives an event, and when an attempt is repeated;
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
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::wildcard_enum_match_arm)]

pub mod access;
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
