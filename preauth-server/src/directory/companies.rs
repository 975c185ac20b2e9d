//! Companies, their branches, credit analyses and block lists.

use async_trait::async_trait;
use preauth_core::operation::{Credit, Party};
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::text_enum;
use preauth_core::value::{
    Cnpj, CompanyId, CompanyName, ContactName, Email, Phone, Reason, Timestamp,
};

use super::{DirectoryError, Page};

text_enum! {
    /// What a company does on the platform.
    pub enum CompanyKind, "company kind" {
        /// A construction company, which may offer advances.
        Construction => "CONSTRUCTION",
        /// A supplier, which receives them.
        Supplier => "SUPPLIER",
    }
}

/// A company as the platform knows it. A supplier is a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// The platform's id.
    pub id: CompanyId,
    /// Its tax id, unique.
    pub cnpj: Cnpj,
    /// Its legal name.
    pub name: CompanyName,
    /// What it does here.
    pub kind: CompanyKind,
    /// Its head office; `None` when it is one.
    pub head_office: Option<CompanyId>,
    /// How to reach it, known of suppliers that an offer registered when offers did.
    pub contact: Option<Contact>,
    /// Whether head offices have invited it and the platform has not registered it. It has no name of
    /// its own then: the tax id stands in its place.
    pub is_invited: bool,
    /// When it was registered, or first invited.
    pub created_at: Timestamp,
    /// The company's own suspension; its head office's counts as well, and is not repeated here.
    pub suspension: Option<Suspension>,
}

/// Why the keys of a company, and of its branches, open nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspension {
    /// Since when.
    pub since: Timestamp,
    /// What the operator gave as the reason.
    pub reason: Reason,
}

/// What a head office that invited a supplier calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// The head office.
    pub head_office: CompanyId,
    /// The name that it gave.
    pub name: CompanyName,
    /// The contact that it gave.
    pub contact: Contact,
    /// When it first offered.
    pub invited_at: Timestamp,
}

impl Company {
    /// The company as operations, orders and invoices show it.
    #[must_use]
    pub fn party(&self) -> Party {
        Party {
            company: self.id,
            head_office: self.head_office.unwrap_or(self.id),
            cnpj: self.cnpj,
            name: self.name.clone(),
        }
    }
}

/// How to reach a supplier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Whom to ask for.
    pub name: ContactName,
    /// Where its mail goes.
    pub email: Email,
    /// Telephone.
    pub phone: Option<Phone>,
}

/// The register of companies.
#[async_trait]
pub trait Companies: Send + Sync {
    /// Registers a company, and with it the `reply` that its idempotency key has from now on.
    ///
    /// An invited supplier is registered under the id that it has: its offers are the company's from
    /// then on. Conflicts when another company has the tax id, or this one is registered already; not
    /// found when its head office does not exist, is not registered or is itself a branch.
    async fn add_company(
        &self,
        company: &Company,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError>;

    /// Corrects the name of a registered company; not found when there is none.
    async fn rename_company(
        &self,
        id: CompanyId,
        name: &CompanyName,
    ) -> Result<Company, DirectoryError>;

    /// The invitations of a supplier that is not registered, newest first.
    async fn invitations(
        &self,
        supplier: CompanyId,
        page: PageRequest,
    ) -> Result<Page<Invitation>, Unavailable>;

    /// The company, if it exists.
    async fn company(&self, id: CompanyId) -> Result<Option<Company>, Unavailable>;

    /// The company with this tax id, if there is one.
    async fn company_by_cnpj(&self, cnpj: &Cnpj) -> Result<Option<Company>, Unavailable>;

    /// Suspends a company: from the next request on its keys, and those of its branches, are
    /// forbidden. A suspended one keeps its first suspension. The company afterwards.
    async fn suspend_company(
        &self,
        id: CompanyId,
        suspension: &Suspension,
    ) -> Result<Company, DirectoryError>;

    /// Ends a company's suspension; without one nothing changes. The company afterwards.
    async fn resume_company(&self, id: CompanyId) -> Result<Company, DirectoryError>;

    /// All companies, newest first.
    async fn companies(&self, page: PageRequest) -> Result<Page<Company>, Unavailable>;

    /// Sets what a head office's credit analysis allows; not found unless it is a head office.
    async fn set_credit(
        &self,
        company: CompanyId,
        credit: Credit,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;

    /// What a head office's credit analysis allows, if there is one.
    async fn credit(&self, company: CompanyId) -> Result<Option<Credit>, Unavailable>;

    /// Blocks a supplier's legal entity, registered or not, for a head office and its branches; blocking
    /// it again changes nothing. Not found unless the company is a head office.
    async fn block_supplier(
        &self,
        company: CompanyId,
        supplier: &Cnpj,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;

    /// Takes a supplier off the block list, with every entry of its legal entity; not found when there
    /// is none.
    async fn unblock_supplier(
        &self,
        company: CompanyId,
        supplier: &Cnpj,
    ) -> Result<(), DirectoryError>;

    /// The tax ids that a head office blocks, in their own order.
    async fn blocked_suppliers(&self, company: CompanyId) -> Result<Vec<Cnpj>, Unavailable>;
}
