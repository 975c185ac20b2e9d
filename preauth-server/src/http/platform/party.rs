//! A company as records of the platform show it.

use preauth_core::operation::Party;
use preauth_core::value::{Cnpj, CompanyId, CompanyName};

use crate::http::openapi::shape::{Text, answer};

answer! {
    /// A company; an invited supplier under the name that the payer's head office gave it.
    #[derive(Debug)]
    pub(crate) struct PartyShape = "PlatformParty" {
        /// The company's id.
        company_id: CompanyId,
        /// Its head office's id; its own for a head office.
        head_office_id: CompanyId,
        /// Tax id, digits and upper-case letters only.
        cnpj: Cnpj,
        /// Legal name.
        name: Text<CompanyName>,
    }
}

impl From<&Party> for PartyShape {
    fn from(party: &Party) -> Self {
        Self {
            company_id: party.company,
            head_office_id: party.head_office,
            cnpj: party.cnpj,
            name: (&party.name).into(),
        }
    }
}
