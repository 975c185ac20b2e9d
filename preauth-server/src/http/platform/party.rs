//! A company as records of the platform show it.

use preauth_core::operation::Party;
use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartyShape {
    company_id: String,
    head_office_id: String,
    cnpj: String,
    name: String,
}

impl From<&Party> for PartyShape {
    fn from(party: &Party) -> Self {
        Self {
            company_id: party.company.to_string(),
            head_office_id: party.head_office.to_string(),
            cnpj: party.cnpj.to_string(),
            name: party.name.to_string(),
        }
    }
}
