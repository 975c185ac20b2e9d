//! A company as answers show it.

use serde::Serialize;

use crate::directory::{Company, Contact, Suspension};

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http::platform) struct CompanyShape {
    id: String,
    cnpj: String,
    name: String,
    kind: &'static str,
    head_office_id: Option<String>,
    contact: Option<ContactShape>,
    created_at: String,
    suspension: Option<SuspensionShape>,
}

/// Known of suppliers that an offer registered.
#[derive(Clone, Debug, Serialize)]
struct ContactShape {
    name: String,
    email: String,
    phone: Option<String>,
}

/// The company's own; its head office's counts as well.
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
            name: company.name.to_string(),
            kind: company.kind.as_str(),
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

impl From<&Contact> for ContactShape {
    fn from(contact: &Contact) -> Self {
        Self {
            name: contact.name.to_string(),
            email: contact.email.to_string(),
            phone: contact.phone.as_ref().map(ToString::to_string),
        }
    }
}
