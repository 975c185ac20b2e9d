//! Invitations of suppliers that are not registered.

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{CompanyId, CompanyName, Timestamp};

use crate::directory::{DirectoryError, Invitation, Invitations};
use crate::store::error::{Fault, WriteError};
use crate::store::rows::{clamped, invitation};

use super::super::{Database, Listed, Session, query};

#[async_trait]
impl<D: Database> Invitations for D {
    async fn invitation(
        &self,
        supplier: CompanyId,
        head_office: CompanyId,
    ) -> Result<Option<Invitation>, Unavailable> {
        let input = (supplier, head_office);
        let found = self.read(&input, |session, input| Box::pin(one(session, input)));
        Ok(found.await?)
    }

    async fn confirm_invitation(
        &self,
        supplier: CompanyId,
        head_office: CompanyId,
        name: &CompanyName,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let input = (supplier, head_office, name.clone(), at);
        let confirmed = self.write(input, |session, input| Box::pin(confirm(session, input)));
        Ok(confirmed.await?)
    }
}

pub(super) async fn list(
    session: &mut dyn Session,
    supplier: CompanyId,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let total = query(
        "SELECT count(*) AS total FROM supplier_invitations i JOIN companies c ON c.id = i.supplier_id
         WHERE i.supplier_id = $1 AND c.is_invited",
    )
    .bind(supplier.as_uuid())
    .total(session)
    .await?;
    let rows = query(
        "SELECT i.head_office_id AS id, i.head_office_id, i.name, i.contact_name, i.contact_email, i.contact_phone,
                i.invited_at, i.confirmed_at
         FROM supplier_invitations i JOIN companies c ON c.id = i.supplier_id
         WHERE i.supplier_id = $1 AND c.is_invited
         ORDER BY i.invited_at DESC, i.head_office_id DESC LIMIT $2 OFFSET $3",
    )
    .bind(supplier.as_uuid())
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(session)
    .await?;
    Ok(Listed::whole(rows, total))
}

async fn one(
    session: &mut dyn Session,
    (supplier, head_office): &(CompanyId, CompanyId),
) -> Result<Option<Invitation>, Fault> {
    let row = query(
        "SELECT i.head_office_id, i.name, i.contact_name, i.contact_email, i.contact_phone,
                i.invited_at, i.confirmed_at
         FROM supplier_invitations i JOIN companies c ON c.id = i.supplier_id
         WHERE i.supplier_id = $1 AND i.head_office_id = $2 AND c.is_invited",
    )
    .bind(supplier.as_uuid())
    .bind(head_office.as_uuid())
    .fetch_optional(session)
    .await?;
    Ok(row.as_ref().map(invitation).transpose()?)
}

/// Only the first confirmation counts.
async fn confirm(
    session: &mut dyn Session,
    (supplier, head_office, name, at): &(CompanyId, CompanyId, CompanyName, Timestamp),
) -> Result<(), WriteError> {
    let done = query(
        "UPDATE supplier_invitations SET name = $3, confirmed_at = $4
         WHERE supplier_id = $1 AND head_office_id = $2 AND confirmed_at IS NULL
           AND (SELECT c.is_invited FROM companies c WHERE c.id = $1)",
    )
    .bind(supplier.as_uuid())
    .bind(head_office.as_uuid())
    .bind(name.as_str())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    if done == 1 {
        return Ok(());
    }
    let known = one(session, &(*supplier, *head_office)).await?;
    Err(if known.is_some() {
        WriteError::Conflict
    } else {
        WriteError::NotFound
    })
}
