//! Companies as operations show them.

use preauth_core::operation::Party;
use preauth_core::port::Subscription;
use preauth_core::value::{Cnpj, CompanyId, EndpointId};
use sqlx::SqliteConnection;

use crate::store::rows::{PAYER, SUPPLIER, party};

use super::rows::Columns;
use crate::store::error::Fault;

/// The company with an id, if there is one.
pub(super) async fn by_id(
    connection: &mut SqliteConnection,
    id: CompanyId,
) -> Result<Option<Party>, Fault> {
    let row = sqlx::query(
        "SELECT id AS payer_id, head_office_id AS payer_head_office_id, cnpj AS payer_cnpj,
                name AS payer_name
         FROM companies WHERE id = ?1",
    )
    .bind(id.as_uuid().as_bytes().as_slice())
    .fetch_optional(connection)
    .await?;
    let party = row.map(|row| party(Columns::of("companies", &row), &PAYER));
    Ok(party.transpose()?)
}

/// The registered company with a tax id, if there is one.
pub(super) async fn by_cnpj(
    connection: &mut SqliteConnection,
    cnpj: Cnpj,
) -> Result<Option<Party>, Fault> {
    let row = sqlx::query(
        "SELECT id AS supplier_id, head_office_id AS supplier_head_office_id,
                cnpj AS supplier_cnpj, name AS supplier_name
         FROM companies WHERE cnpj = ?1 AND NOT is_invited",
    )
    .bind(cnpj.as_str())
    .fetch_optional(connection)
    .await?;
    let party = row.map(|row| party(Columns::of("companies", &row), &SUPPLIER));
    Ok(party.transpose()?)
}

/// The endpoints of the payer's head office and, if there is a supplier, of its own.
pub(super) async fn subscriptions(
    connection: &mut SqliteConnection,
    payer: &Party,
    supplier: Option<&Party>,
) -> Result<Vec<Subscription>, Fault> {
    let supplier = supplier.map(|supplier| supplier.head_office);
    let rows = sqlx::query(
        "SELECT id, head_office_id, events FROM endpoints
         WHERE head_office_id IN (?1, ?2) AND deleted_at IS NULL",
    )
    .bind(payer.head_office.as_uuid().as_bytes().as_slice())
    .bind(
        supplier
            .as_ref()
            .map(|it| it.as_uuid().as_bytes().as_slice()),
    )
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
