//! Companies, their branches, credit analyses and block lists.

use async_trait::async_trait;
use preauth_core::access::KnownCompany;
use preauth_core::operation::{Credit, Party};
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyKind, CompanyName, ContactName, Email, Phone, Reason, Timestamp,
};

use super::{DirectoryError, Page};

/// A company on the platform. A supplier is a company as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// The platform's id.
    pub id: CompanyId,
    /// Its tax id, unique.
    pub cnpj: Cnpj,
    /// Its legal name.
    pub name: CompanyName,
    /// Its role.
    pub kind: CompanyKind,
    /// Its head office; `None` when it is a head office itself.
    pub head_office: Option<CompanyId>,
    /// Its contact, for suppliers that earlier builds registered with an offer.
    pub contact: Option<Contact>,
    /// Whether head offices have invited it and it is not registered. It then has its tax id in
    /// place of a name.
    pub is_invited: bool,
    /// When it was registered, or first invited.
    pub created_at: Timestamp,
    /// The company's own suspension; that of its head office also applies, and is not repeated
    /// here.
    pub suspension: Option<Suspension>,
}

/// The suspension of a company; the keys of the company and its branches are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspension {
    /// When it began.
    pub since: Timestamp,
    /// The operator's reason.
    pub reason: Reason,
}

/// A head office's invitation of a supplier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// The head office.
    pub head_office: CompanyId,
    /// The name that it gave.
    pub name: CompanyName,
    /// The contact that it gave.
    pub contact: Contact,
    /// When the head office first made an offer.
    pub invited_at: Timestamp,
    /// When the supplier confirmed or corrected the name, if it did.
    pub confirmed_at: Option<Timestamp>,
}

impl Company {
    /// The company as the rules of registration look at it.
    #[must_use]
    pub const fn known(&self) -> KnownCompany {
        KnownCompany {
            id: self.id,
            cnpj: self.cnpj,
            kind: self.kind,
            head_office: self.head_office,
            is_invited: self.is_invited,
        }
    }

    /// The company in the form of operations, orders and invoices.
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

/// The contact of a supplier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The name of the person.
    pub name: ContactName,
    /// The e-mail address.
    pub email: Email,
    /// Telephone.
    pub phone: Option<Phone>,
}

/// Companies.
#[async_trait]
pub trait Companies: Send + Sync {
    /// Registers a company, and stores with it the `reply` of its idempotency key.
    ///
    /// An invited supplier keeps its id when it is registered: its offers belong to the company
    /// from then on. Conflict when another company has the tax id, or this one is already
    /// registered; not found when its head office does not exist, is not registered or is itself a
    /// branch.
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
    /// refused. A company that is already suspended keeps its first suspension. Returns the company
    /// after the change.
    async fn suspend_company(
        &self,
        id: CompanyId,
        suspension: &Suspension,
    ) -> Result<Company, DirectoryError>;

    /// Ends a company's suspension, if there is one. Returns the company after the change.
    async fn resume_company(&self, id: CompanyId) -> Result<Company, DirectoryError>;

    /// The branches of a head office, newest first.
    async fn branches(
        &self,
        head_office: CompanyId,
        page: PageRequest,
    ) -> Result<Page<Company>, Unavailable>;

    /// All companies, newest first.
    async fn companies(&self, page: PageRequest) -> Result<Page<Company>, Unavailable>;

    /// Sets what a head office's credit analysis allows; not found unless it is a head office.
    async fn set_credit(
        &self,
        company: CompanyId,
        credit: Credit,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;

    /// The credit that a head office's analysis allows, if there is one.
    async fn credit(&self, company: CompanyId) -> Result<Option<Credit>, Unavailable>;

    /// Blocks a supplier's legal entity, registered or not, for a head office and its branches;
    /// idempotent. Not found unless the company is a head office.
    async fn block_supplier(
        &self,
        company: CompanyId,
        supplier: &Cnpj,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;

    /// Removes every entry of a supplier's legal entity from the block list; not found when there
    /// is none.
    async fn unblock_supplier(
        &self,
        company: CompanyId,
        supplier: &Cnpj,
    ) -> Result<(), DirectoryError>;

    /// The tax ids that a head office blocks, in the order of the tax ids.
    async fn blocked_suppliers(&self, company: CompanyId) -> Result<Vec<Cnpj>, Unavailable>;
}
