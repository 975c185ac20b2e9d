//! Companies as operations show them.

use preauth_core::operation::Party;
use preauth_core::port::Subscription;
use preauth_core::value::{Cnpj, CompanyId, EndpointId};
use sqlx::PgConnection;

use super::error::Fault;
use super::rows::Columns;

/// The names that a query gives the columns of a party.
pub(super) struct PartyColumns {
    pub(super) company: &'static str,
    pub(super) head_office: &'static str,
    pub(super) cnpj: &'static str,
    pub(super) name: &'static str,
}

pub(super) const PAYER: PartyColumns = PartyColumns {
    company: "payer_id",
    head_office: "payer_head_office_id",
    cnpj: "payer_cnpj",
    name: "payer_name",
};

pub(super) const SUPPLIER: PartyColumns = PartyColumns {
    company: "supplier_id",
    head_office: "supplier_head_office_id",
    cnpj: "supplier_cnpj",
    name: "supplier_name",
};

pub(super) fn party(columns: Columns<'_>, names: &PartyColumns) -> Result<Party, Fault> {
    Ok(Party {
        company: CompanyId::new(columns.uuid(names.company)?),
        head_office: CompanyId::new(columns.uuid(names.head_office)?),
        cnpj: columns.parsed(names.cnpj)?,
        name: columns.parsed(names.name)?,
    })
}

/// The company with an id, if there is one.
pub(super) async fn by_id(
    connection: &mut PgConnection,
    id: CompanyId,
) -> Result<Option<Party>, Fault> {
    let row = sqlx::query(
        "SELECT id AS payer_id, head_office_id AS payer_head_office_id, cnpj AS payer_cnpj,
                name AS payer_name
         FROM companies WHERE id = $1",
    )
    .bind(id.as_uuid())
    .fetch_optional(connection)
    .await?;
    row.map(|row| party(Columns::of("companies", &row), &PAYER))
        .transpose()
}

/// The company with a tax id, if there is one.
pub(super) async fn by_cnpj(
    connection: &mut PgConnection,
    cnpj: Cnpj,
) -> Result<Option<Party>, Fault> {
    let row = sqlx::query(
        "SELECT id AS supplier_id, head_office_id AS supplier_head_office_id,
                cnpj AS supplier_cnpj, name AS supplier_name
         FROM companies WHERE cnpj = $1",
    )
    .bind(cnpj.as_str())
    .fetch_optional(connection)
    .await?;
    row.map(|row| party(Columns::of("companies", &row), &SUPPLIER))
        .transpose()
}

/// The endpoints of the payer's head office and, if there is a supplier, of its own.
pub(super) async fn subscriptions(
    connection: &mut PgConnection,
    payer: &Party,
    supplier: Option<&Party>,
) -> Result<Vec<Subscription>, Fault> {
    let supplier = supplier.map(|supplier| supplier.head_office);
    let rows = sqlx::query(
        "SELECT id, head_office_id, events FROM endpoints
         WHERE head_office_id IN ($1, $2) AND deleted_at IS NULL",
    )
    .bind(payer.head_office.as_uuid())
    .bind(supplier.as_ref().map(CompanyId::as_uuid))
    .fetch_all(connection)
    .await?;
    rows.iter()
        .map(|row| {
            let columns = Columns::of("endpoints", row);
            Ok(Subscription {
                endpoint: EndpointId::new(columns.uuid("id")?),
                head_office: CompanyId::new(columns.uuid("head_office_id")?),
                events: columns.set("events")?,
            })
        })
        .collect()
}
