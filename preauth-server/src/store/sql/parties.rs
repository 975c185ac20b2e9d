//! Companies as operations show them.

use preauth_core::operation::Party;
use preauth_core::port::Subscription;
use preauth_core::value::{Cnpj, CompanyId, EndpointId};
use uuid::Uuid;

use crate::store::error::Fault;
use crate::store::rows::{Columns, PAYER, SUPPLIER, party};

use super::{Session, query, sql};

/// The company with an id, if there is one.
pub(in crate::store) async fn by_id(
    session: &mut dyn Session,
    id: CompanyId,
) -> Result<Option<Party>, Fault> {
    let row = query(
        "SELECT id AS payer_id, head_office_id AS payer_head_office_id, cnpj AS payer_cnpj,
                name AS payer_name
         FROM companies WHERE id = $1",
    )
    .bind(id.as_uuid())
    .fetch_optional(session)
    .await?;
    let party = row.map(|row| party(Columns::of("companies", &row), &PAYER));
    Ok(party.transpose()?)
}

/// The registered company with a tax id, if there is one.
pub(in crate::store) async fn by_cnpj(
    session: &mut dyn Session,
    cnpj: Cnpj,
) -> Result<Option<Party>, Fault> {
    let row = query(
        "SELECT id AS supplier_id, head_office_id AS supplier_head_office_id,
                cnpj AS supplier_cnpj, name AS supplier_name
         FROM companies WHERE cnpj = $1 AND NOT is_invited",
    )
    .bind(cnpj.as_str())
    .fetch_optional(session)
    .await?;
    let party = row.map(|row| party(Columns::of("companies", &row), &SUPPLIER));
    Ok(party.transpose()?)
}

/// The endpoints of the payer's head office and, if there is a supplier, of the supplier's.
pub(in crate::store) async fn subscriptions(
    session: &mut dyn Session,
    payer: &Party,
    supplier: Option<&Party>,
) -> Result<Vec<Subscription>, Fault> {
    let supplier = supplier.map(|supplier| supplier.head_office);
    let head_offices: Vec<CompanyId> = [payer.head_office].into_iter().chain(supplier).collect();
    endpoints_of(session, &head_offices).await
}

/// The endpoints of any of `head_offices`.
pub(in crate::store) async fn endpoints_of(
    session: &mut dyn Session,
    head_offices: &[CompanyId],
) -> Result<Vec<Subscription>, Fault> {
    let ids: Vec<Uuid> = head_offices.iter().map(|it| *it.as_uuid()).collect();
    let rows = query(sql!(
        "SELECT id, head_office_id, events FROM endpoints
         WHERE head_office_id" (is_one_of "$1") " AND deleted_at IS NULL"
    ))
    .bind(ids)
    .fetch_all(session)
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
