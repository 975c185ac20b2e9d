//! The parties of an operation, an order or an invoice.

use preauth_core::operation::{KnownSupplier, Party};
use preauth_core::value::CompanyId;

use super::columns::{Columns, Corrupt};

/// The column names of a party in a query.
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

/// The columns of a record's supplier, beside `join_supplier!`: an invited one has the name that
/// the record's head office gave it.
///
/// Records of builds without invitations, and records without an offer, have no invitation and use
/// the name in the company's row. An invitation whose contact was erased is looked up only then. `p` is the
/// payer.
macro_rules! supplier_columns {
    () => {
        "s.id AS supplier_id, s.head_office_id AS supplier_head_office_id,
         s.cnpj AS supplier_cnpj,
         CASE WHEN s.is_invited THEN
                  CASE WHEN si.name IS NOT NULL THEN si.name
                       ELSE coalesce((SELECT ei.name FROM erased_invitations ei
                                      WHERE ei.supplier_id = s.id AND ei.head_office_id = p.head_office_id),
                                     s.name) END
              ELSE s.name END AS supplier_name"
    };
}
pub(in crate::store) use supplier_columns;

/// Joins the supplier of `$record`, with its invitation by the record's head office.
macro_rules! join_supplier {
    ($record:literal) => {
        concat!(
            " JOIN companies s ON s.id = ",
            $record,
            ".supplier_id
             LEFT JOIN supplier_invitations si
                 ON si.supplier_id = s.id AND s.is_invited AND si.head_office_id = ",
            $record,
            ".head_office_id "
        )
    };
}
pub(in crate::store) use join_supplier;

/// A supplier as a head office may see it: every column is empty when there is no company, and
/// the name is when only other head offices invited it.
pub(in crate::store) fn known_supplier(columns: Columns<'_>) -> Result<KnownSupplier, Corrupt> {
    let cnpj: Option<&str> = columns.raw(SUPPLIER.cnpj)?;
    if cnpj.is_none() {
        return Ok(KnownSupplier::Unknown);
    }
    let name: Option<&str> = columns.raw(SUPPLIER.name)?;
    Ok(match (columns.raw("supplier_is_invited")?, name) {
        (true, None) => {
            KnownSupplier::InvitedByOthers(CompanyId::new(columns.uuid(SUPPLIER.company)?))
        }
        (true, Some(_)) => KnownSupplier::Invited(party(columns, &SUPPLIER)?),
        (false, _) => KnownSupplier::Registered(party(columns, &SUPPLIER)?),
    })
}

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
