//! The records of the platform's own staff: companies, users, keys, endpoints, deliveries,
//! invoices, extensions, mails, payment orders, operators, the audit log, sessions of
//! the console.
//!
//! Ports of the server, one per kind of record. Lists are newest first and paged.

mod api_keys;
mod audit_log;
mod companies;
mod console_sessions;
mod deliveries;
mod endpoints;
mod extensions;
mod invitations;
mod invoice_files;
mod invoices;
mod mails;
mod operation_search;
mod operators;
mod overview;
mod payment_orders;
mod personal_data;
mod registration;
mod reports;
mod resend_range;
mod suppressed_addresses;
mod users;

pub use api_keys::{ApiKey, ApiKeys};
pub use audit_log::{AuditEntry, AuditFilter, AuditLog, AuditOutcome, Change, Sealing};
pub use companies::{Companies, Company, Contact, Invitation, Suspension};
pub use console_sessions::{ConsoleSession, ConsoleSessions, SessionHolder};
pub use deliveries::{
    AttemptRecord, Deliveries, Delivery, DeliveryFilter, DeliveryStatus, DeliveryWait,
    OVERDUE_AFTER, resend_all_failed, resend_range,
};
pub use endpoints::{
    Abandoned, Endpoint, Endpoints, KeptSecret, Replaced, ResealedSecret, SealedSecret, SecretId,
};
pub use extensions::{Extensions, OperationExtension};
pub use invitations::Invitations;
pub use invoice_files::FileDescriptions;
pub use invoices::Invoices;
pub use mails::{Mail, MailFilter, MailStatus, Mails};
pub use operation_search::{OperationFilter, OperationSearch};
pub use operators::{Operator, Operators};
pub use overview::{Attention, CompanyAttention, EndingKey, KEYS_ENDING_WITHIN, Overview};
pub use payment_orders::{PaymentOrderFilter, PaymentOrders};
pub use personal_data::{
    ERASED_DOMAIN, Erasure, MAX_PERSONAL_RECORDS, PersonalData, PersonalDataRecords, PersonalMail,
    PersonalRecords,
};
pub(crate) use personal_data::{ids_of, is_of_erased_user};
pub use registration::{RegistrationError, register};
pub use reports::{
    Activity, Period, ReportQuery, ReportRow, ReportScope, ReportUnit, Reports, Volume,
};
pub use resend_range::{EndedStatus, ResendPlace, ResendRange, Resendable, Resent};
pub use suppressed_addresses::{Addressee, SuppressedAddress, SuppressedAddresses};
pub use users::{User, UserChange, Users};

use std::error::Error as StdError;

use preauth_core::port::Unavailable;
use thiserror::Error;

/// All ports of the directory: implemented by a store and used by the platform API.
pub trait Directory:
    Companies
    + Users
    + ApiKeys
    + AuditLog
    + ConsoleSessions
    + Endpoints
    + Deliveries
    + Extensions
    + FileDescriptions
    + Invitations
    + Invoices
    + Mails
    + OperationSearch
    + Operators
    + Overview
    + PaymentOrders
    + PersonalDataRecords
    + Reports
    + SuppressedAddresses
{
}

impl<T> Directory for T where
    T: Companies
        + Users
        + ApiKeys
        + AuditLog
        + ConsoleSessions
        + Endpoints
        + Deliveries
        + Extensions
        + FileDescriptions
        + Invitations
        + Invoices
        + Mails
        + OperationSearch
        + Operators
        + Overview
        + PaymentOrders
        + PersonalDataRecords
        + Reports
        + SuppressedAddresses
{
}

/// Why a change of the directory failed.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// A record that the change refers to does not exist.
    #[error("no such record")]
    NotFound,
    /// The record already exists, another record conflicts with it, or its idempotency key has a
    /// valid reply.
    #[error("the record exists already")]
    Conflict,
    /// Another request holds the same idempotency key; nothing was changed.
    #[error("a request with this idempotency key is being processed")]
    InProgress,
    /// The store is unavailable; nothing was changed.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Everything or nothing was changed.
    #[error("it is not known whether anything was changed")]
    Unknown(#[source] Box<dyn StdError + Send + Sync>),
}

/// Maximum number of entries of a list over all companies, on all pages together: the newest. Searches for
/// few of them reach the older ones.
pub const NEWEST: u32 = 10_000;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries, newest first.
    pub items: Vec<T>,
    /// The number of entries on all pages together.
    pub total: u64,
    /// Whether older entries match, too, which no page has: of a list that has the newest [`NEWEST`] alone.
    pub is_cut: bool,
}
