//! A company in answers and requests.

use preauth_core::value::{
    Cnpj, CompanyId, CompanyKind, CompanyName, ContactName, Email, Phone, Reason, Timestamp,
};
use preauth_core::wire::Open;

use crate::directory::{Company, Contact, Invitation, Suspension};
use crate::http::fields::{Fields, Problems};
use crate::http::openapi::shape::{Text, answer, request};
use crate::http::problem::Defect;
use crate::http::requested::Requested as _;

answer! {
    /// A company, or a supplier.
    #[derive(Clone, Debug)]
    pub(crate) struct CompanyShape = "Company" {
        /// The company's id.
        id: CompanyId,
        /// Tax id, digits and upper-case letters only.
        cnpj: Cnpj,
        /// Legal name; null while it is not registered.
        name: Option<Text<CompanyName>> = "Construtora Exemplo S.A.",
        /// The kind of company.
        kind: Open<CompanyKind>,
        /// False for a supplier that companies invited and the platform has not registered.
        registered: bool,
        /// Of a branch: its head office.
        head_office_id: Option<CompanyId>,
        contact: Option<ContactShape>,
        /// When it was registered, or first invited.
        created_at: Timestamp,
        suspension: Option<SuspensionShape>,
    }
}

answer! {
    /// The name that a company gives to a supplier that is not registered; nobody else sees it.
    #[derive(Clone, Debug)]
    pub(crate) struct InvitationShape = "Invitation" {
        /// The company that invited it.
        head_office_id: CompanyId,
        /// Its name there.
        name: Text<CompanyName> = "Fornecedor Exemplo Ltda.",
        contact: ContactShape,
        /// When it first offered.
        invited_at: Timestamp,
        /// When the supplier confirmed or corrected the name on its page; it is kept from then on.
        name_confirmed_at: Option<Timestamp>,
    }
}

answer! {
    /// Whom to speak to.
    #[derive(Clone, Debug)]
    pub(crate) struct ContactShape {
        /// Name.
        name: Text<ContactName>,
        /// Address.
        email: Text<Email>,
        /// Telephone.
        phone: Option<Text<Phone>> = "+55 11 5555-0100",
    }
}

answer! {
    /// The company's own suspension; that of its head office counts as well.
    #[derive(Clone, Debug)]
    pub(crate) struct SuspensionShape {
        /// Since when.
        since: Timestamp,
        /// Why.
        reason: Text<Reason> = "Contrato em revisão",
    }
}

request! {
    /// A company.
    #[derive(Debug)]
    pub(crate) struct NewCompany = "NewCompany" {
        /// Digits only for a construction company.
        cnpj: Cnpj,
        /// Legal name.
        name: CompanyName,
        /// The kind of company.
        kind: CompanyKind; kind,
        /// Makes it a branch.
        head_office_id: Option<CompanyId>,
    }
}

fn kind(body: Fields<'_>, name: &str, problems: &mut Problems) -> Option<CompanyKind> {
    let kind = CompanyKind::read(body, name, problems)?;
    let cnpj = Cnpj::read(body, "cnpj", &mut Problems::default());
    if cnpj.is_some_and(|cnpj| !kind.accepts(&cnpj)) {
        problems.add("cnpj", Defect::CnpjNotNumeric);
    }
    Some(kind)
}

request! {
    /// The fields to change; absent ones stay as they are.
    #[derive(Debug)]
    pub(crate) struct CompanyChange = "CompanyChange" {
        /// Legal name.
        name: Option<CompanyName>,
    }
}

request! {
    /// A suspension.
    #[derive(Debug)]
    pub(crate) struct NewSuspension = "NewSuspension" {
        /// Why.
        reason: Reason = "Contrato em revisão",
    }
}

impl From<&Company> for CompanyShape {
    fn from(company: &Company) -> Self {
        Self {
            id: company.id,
            cnpj: company.cnpj,
            name: (!company.is_invited).then(|| (&company.name).into()),
            kind: company.kind.into(),
            registered: !company.is_invited,
            head_office_id: company.head_office,
            contact: company.contact.as_ref().map(Into::into),
            created_at: company.created_at,
            suspension: company.suspension.as_ref().map(Into::into),
        }
    }
}

impl From<&Suspension> for SuspensionShape {
    fn from(suspension: &Suspension) -> Self {
        Self {
            since: suspension.since,
            reason: (&suspension.reason).into(),
        }
    }
}

impl From<&Invitation> for InvitationShape {
    fn from(invitation: &Invitation) -> Self {
        Self {
            head_office_id: invitation.head_office,
            name: (&invitation.name).into(),
            contact: ContactShape::from(&invitation.contact),
            name_confirmed_at: invitation.confirmed_at,
            invited_at: invitation.invited_at,
        }
    }
}

impl From<&Contact> for ContactShape {
    fn from(contact: &Contact) -> Self {
        Self {
            name: (&contact.name).into(),
            email: (&contact.email).into(),
            phone: contact.phone.as_ref().map(Into::into),
        }
    }
}
