//! A company as answers show it.

use serde::Serialize;

use crate::directory::{Company, Contact, Invitation, Suspension};

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http::platform) struct CompanyShape {
    id: String,
    cnpj: String,
    /// Null for an invited supplier: each head office gave it a name of its own.
    name: Option<String>,
    kind: &'static str,
    registered: bool,
    head_office_id: Option<String>,
    contact: Option<ContactShape>,
    created_at: String,
    suspension: Option<SuspensionShape>,
}

/// The name that a head office gave an invited supplier.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InvitationShape {
    head_office_id: String,
    name: String,
    contact: ContactShape,
    invited_at: String,
}

#[derive(Clone, Debug, Serialize)]
struct ContactShape {
    name: String,
    email: String,
    phone: Option<String>,
}

/// The suspension of the company itself; that of its head office also applies.
#[derive(Clone, Debug, Serialize)]
struct SuspensionShape {
    since: String,
    reason: String,
}

impl From<&Company> for CompanyShape {
    fn from(company: &Company) -> Self {
        Self {
            id: company.id.to_string(),
            cnpj: company.cnpj.to_string(),
            name: (!company.is_invited).then(|| company.name.to_string()),
            kind: company.kind.as_str(),
            registered: !company.is_invited,
            head_office_id: company.head_office.map(|id| id.to_string()),
            contact: company.contact.as_ref().map(Into::into),
            created_at: company.created_at.to_string(),
            suspension: company.suspension.as_ref().map(Into::into),
        }
    }
}

impl From<&Suspension> for SuspensionShape {
    fn from(suspension: &Suspension) -> Self {
        Self {
            since: suspension.since.to_string(),
            reason: suspension.reason.to_string(),
        }
    }
}

impl From<&Invitation> for InvitationShape {
    fn from(invitation: &Invitation) -> Self {
        Self {
            head_office_id: invitation.head_office.to_string(),
            name: invitation.name.to_string(),
            contact: ContactShape::from(&invitation.contact),
            invited_at: invitation.invited_at.to_string(),
        }
    }
}

impl From<&Contact> for ContactShape {
    fn from(contact: &Contact) -> Self {
        Self {
            name: contact.name.to_string(),
            email: contact.email.to_string(),
            phone: contact.phone.as_ref().map(ToString::to_string),
        }
    }
}
