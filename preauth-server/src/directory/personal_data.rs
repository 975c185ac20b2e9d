//! The personal data of a company: what there is, a copy of it, and its erasure.
//!
//! Amounts, dates and the names of companies are records of business, and stay.

use async_trait::async_trait;
use preauth_core::operation::InvoiceFile;
use preauth_core::port::{MailKind, Unavailable};
use preauth_core::value::{CompanyId, Email, MailId, OperationId, OperatorName, Timestamp};

use super::{Company, DirectoryError, Invitation, SuppressedAddress, User};

/// The domain of the addresses that erased users have instead of their own.
pub const ERASED_DOMAIN: &str = "apagado.invalid";
/// Maximum number of records of a kind that are copied, and of operations of each side whose records are counted.
pub const MAX_PERSONAL_RECORDS: u32 = 10_000;

/// How many records of a company hold personal data. Mails about offers, files and what is in progress are those of its
/// newest [`MAX_PERSONAL_RECORDS`] operations as supplier, and as payer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonalData {
    /// Contacts of the company as a supplier.
    pub contacts: u64,
    /// Users whose name and address were not erased.
    pub users: u64,
    /// Mails about offers to the company, and about its endpoint.
    pub mails: u64,
    /// Invoice files of its operations, as payer and as supplier.
    pub files: u64,
    /// Addresses from which its readers ended mails; they are kept.
    pub suppressed_addresses: u64,
    /// Operations that prevent an erasure.
    pub operations_in_progress: u64,
    /// Payment orders that prevent an erasure.
    pub open_payment_orders: u64,
    /// Its erasures, newest first.
    pub erasures: Vec<Erasure>,
}

/// An erasure of a company's personal data, with the numbers of what was erased so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// When it began. What came later is left.
    pub began_at: Timestamp,
    /// Who began it.
    pub operator: OperatorName,
    /// When it ended; `None` while something is left.
    pub completed_at: Option<Timestamp>,
    /// Contacts.
    pub contacts: u64,
    /// Users.
    pub users: u64,
    /// Mails.
    pub mails: u64,
    /// Invoice files.
    pub files: u64,
}

/// The records with personal data; at most [`MAX_PERSONAL_RECORDS`] of each kind, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonalRecords {
    /// Contacts that head offices gave of the company as a supplier.
    pub invitations: Vec<Invitation>,
    /// Users.
    pub users: Vec<User>,
    /// Mails.
    pub mails: Vec<PersonalMail>,
    /// Invoice files.
    pub files: Vec<(OperationId, InvoiceFile)>,
    /// Addresses from which its readers ended mails.
    pub suppressed_addresses: Vec<SuppressedAddress>,
}

/// A mail to a person of the company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonalMail {
    /// The mail's id.
    pub id: MailId,
    /// The kind of mail.
    pub kind: MailKind,
    /// The operation that it is about.
    pub operation: Option<OperationId>,
    /// The address.
    pub recipient: Email,
    /// When it was stored.
    pub created_at: Timestamp,
}

/// Personal data of exactly one company: not of its branches or of its head office.
#[async_trait]
pub trait PersonalDataRecords: Send + Sync {
    /// What there is.
    async fn personal_data(&self, company: &Company) -> Result<PersonalData, Unavailable>;

    /// A copy of it.
    async fn personal_records(&self, company: &Company) -> Result<PersonalRecords, Unavailable>;

    /// Begins to erase the company's personal data: contacts, users and mails about its endpoint are erased at
    /// once. Returns the erasure that is not completed, if there is one; or the last one, if nothing is left to
    /// erase. A conflict while an operation of the company is in progress or a payment order open.
    async fn begin_erasure(
        &self,
        company: &Company,
        operator: &OperatorName,
        at: Timestamp,
    ) -> Result<Erasure, DirectoryError>;

    /// Erases mails and files of the next operations. It continues from what is stored, so that it may be
    /// interrupted, and repeated; not found when there is no such erasure.
    async fn continue_erasure(
        &self,
        company: &Company,
        began_at: Timestamp,
        at: Timestamp,
    ) -> Result<Erasure, DirectoryError>;
}

impl User {
    /// Whether name and address were erased.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        is_of_erased_user(&self.email)
    }
}

/// Whether only an erased user may have the address.
pub(crate) fn is_of_erased_user(address: &Email) -> bool {
    let domain = address.as_str().rsplit('@').next();
    domain.is_some_and(|domain| domain.eq_ignore_ascii_case(ERASED_DOMAIN))
}

/// The company's id and the head office of its operations as a payer.
pub(crate) fn ids_of(company: &Company) -> (CompanyId, CompanyId) {
    (company.id, company.head_office.unwrap_or(company.id))
}
