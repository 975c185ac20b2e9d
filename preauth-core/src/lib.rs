//! Rules and state of receivables-advance pre-authorizations, without transport, runtime or
//! database: for services that embed them, and for clients and receivers of their JSON.
//!
//! A construction company offers a supplier an advance on an invoice. The supplier requests or declines
//! it, the company may cancel it, and it expires after a time. This crate decides the effect of each of
//! these steps, independently of how they are requested and where they are stored.
//!
//! ```
//! use preauth_core::operation::{
//!     Command, CommandContext, Decision, Invoice, InvoiceAmounts, Operation, Party, State, decide, evolve,
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
//! let Decision::Change(change) = decide(&offered, &Command::Request, &CommandContext::default(), now)? else {
//!     return Err("a request always changes an offer".into());
//! };
//! let requested = evolve(&offered, &change);
//! assert_eq!(requested.status(), Status::ToApprove);
//!
//! // Too late to cancel: the supplier has requested the advance.
//! let refused = decide(&requested, &Command::Cancel, &CommandContext::default(), now).unwrap_err();
//! assert_eq!(refused.to_string(), "the supplier already requested the advance");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`memory`] has a complete program with a store: offer, request, webhooks.
//!
//! - [`value`]: the values that a field may hold, parsed once on input;
//! - [`operation`]: the transition table, [`operation::decide`] and [`operation::evolve`];
//! - [`access`]: permissions of keys, responsible users and branches;
//! - [`payment_order`]: the second, smaller aggregate, built the same way;
//! - [`delivery`]: who receives an event, and when an attempt is repeated;
//! - [`port`]: what a host must provide ([`port::Store`], [`port::Outbox`], [`port::Queries`]);
//! - [`service`]: load, decide, evolve, commit;
//! - [`audit`]: checks whether the stored data follows from the rules;
//! - [`memory`]: a host in memory, for embedding and for tests;
//! - `conformance` (feature): the test suite that every host must pass;
//! - [`wire`]: the JSON shapes, which depend on the values and not on the rules.
//!
//! Time and ids are arguments: this crate reads no clock and generates no random numbers.
//!
//! # What may grow
//!
//! A minor version may add a status, code, event type, stage, command, kind of error or JSON field,
//! because the contract may. These types are `non_exhaustive`: match with `_`, and build with the
//! constructors. The types that [`port`] passes to a store are exhaustive: a store that ignored a new
//! field would lose data, so a new field breaks the build.
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
