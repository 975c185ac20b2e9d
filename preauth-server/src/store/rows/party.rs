//! The parties of an operation, an order or an invoice.

use preauth_core::operation::Party;
use preauth_core::value::CompanyId;

use super::columns::{Columns, Corrupt};

/// The names that a query gives the columns of a party.
pub(in crate::store) struct PartyColumns {
    pub(in crate::store) company: &'static str,
    pub(in crate::store) head_office: &'static str,
    pub(in crate::store) cnpj: &'static str,
    pub(in crate::store) name: &'static str,
}

pub(in crate::store) const PAYER: PartyColumns = PartyColumns {
    company: "payer_id",
    head_office: "payer_head_office_id",
    cnpj: "payer_cnpj",
    name: "payer_name",
};

pub(in crate::store) const SUPPLIER: PartyColumns = PartyColumns {
    company: "supplier_id",
    head_office: "supplier_head_office_id",
    cnpj: "supplier_cnpj",
    name: "supplier_name",
};

pub(in crate::store) fn party(
    columns: Columns<'_>,
    names: &PartyColumns,
) -> Result<Party, Corrupt> {
    Ok(Party {
        company: CompanyId::new(columns.uuid(names.company)?),
        head_office: CompanyId::new(columns.uuid(names.head_office)?),
        cnpj: columns.parsed(names.cnpj)?,
        name: columns.parsed(names.name)?,
    })
}
