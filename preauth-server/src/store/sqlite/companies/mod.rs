//! Companies, with credit analyses and block lists.

mod decisions;
mod suspension;

use async_trait::async_trait;
use preauth_core::operation::Credit;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{Cnpj, CompanyId, CompanyName, Timestamp};
use sqlx::{Row, SqliteConnection};

use crate::directory::{Companies, Company, DirectoryError, Invitation, Page, Suspension};
use crate::store::rows::{company, invitation};
use crate::store::set_aside::SetAside;

use super::SqliteStore;
use super::rows::{clamped, count};
use crate::store::error::{Fault, WriteError};
use crate::store::sql::platform_replies::remember;

#[async_trait]
impl Companies for SqliteStore {
    async fn add_company(
        &self,
        company: &Company,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError> {
        let input = (company.clone(), reply.cloned());
        let added = self.writer.write(input, |connection, (company, reply)| {
            Box::pin(async move {
                insert(connection, company).await?;
                remember(connection, reply.as_ref(), company.created_at).await
            })
        });
        Ok(added.await?)
    }

    async fn rename_company(
        &self,
        id: CompanyId,
        name: &CompanyName,
    ) -> Result<Company, DirectoryError> {
        let renamed = self
            .writer
            .write((id, name.clone()), |connection, (id, name)| {
                Box::pin(rename(connection, *id, name))
            });
        Ok(renamed.await?)
    }

    async fn invitations(
        &self,
        supplier: CompanyId,
        page: PageRequest,
    ) -> Result<Page<Invitation>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(invitations(&mut snapshot, supplier, page, &self.set_aside).await?)
    }

    async fn company(&self, id: CompanyId) -> Result<Option<Company>, Unavailable> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(
            "SELECT id, cnpj, name, kind, head_office_id, contact_name, contact_email,
                    contact_phone, created_at, is_invited, suspended_at, suspension_reason
             FROM companies WHERE id = ?1",
        )
        .bind(id.as_uuid().as_bytes().as_slice())
        .fetch_optional(&mut *reader)
        .await
        .map_err(Fault::from)?;
        Ok(row.as_ref().map(company).transpose()?)
    }

    async fn company_by_cnpj(&self, cnpj: &Cnpj) -> Result<Option<Company>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(by_cnpj(&mut reader, *cnpj).await?)
    }

    async fn suspend_company(
        &self,
        id: CompanyId,
        suspension: &Suspension,
    ) -> Result<Company, DirectoryError> {
        let input = (id, suspension.clone());
        let suspended = self.writer.write(input, |connection, input| {
            Box::pin(suspension::begin(connection, input))
        });
        Ok(suspended.await?)
    }

    async fn resume_company(&self, id: CompanyId) -> Result<Company, DirectoryError> {
        let resumed = self.writer.write(id, |connection, id| {
            Box::pin(suspension::end(connection, *id))
        });
        Ok(resumed.await?)
    }

    async fn companies(&self, page: PageRequest) -> Result<Page<Company>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(list(&mut snapshot, page, &self.set_aside).await?)
    }

    async fn set_credit(
        &self,
        company: CompanyId,
        credit: Credit,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let set = self
            .writer
            .write((company, credit, at), |connection, input| {
                Box::pin(decisions::set_credit(connection, input))
            });
        Ok(set.await?)
    }

    async fn credit(&self, company: CompanyId) -> Result<Option<Credit>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(decisions::credit(&mut reader, company).await?)
    }

    async fn block_supplier(
        &self,
        company: CompanyId,
        supplier: &Cnpj,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let blocked = self
            .writer
            .write((company, *supplier, at), |connection, input| {
                Box::pin(decisions::block(connection, input))
            });
        Ok(blocked.await?)
    }

    async fn unblock_supplier(
        &self,
        company: CompanyId,
        supplier: &Cnpj,
    ) -> Result<(), DirectoryError> {
        let unblocked = self
            .writer
            .write((company, *supplier), |connection, input| {
                Box::pin(decisions::unblock(connection, input))
            });
        Ok(unblocked.await?)
    }

    async fn blocked_suppliers(&self, company: CompanyId) -> Result<Vec<Cnpj>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(decisions::blocked(&mut reader, company).await?)
    }
}

/// Registers a company, whose parent must be a head office; an invited supplier keeps its id.
async fn insert(connection: &mut SqliteConnection, company: &Company) -> Result<(), WriteError> {
    let head_office = company.head_office.unwrap_or(company.id);
    let done = sqlx::query(
        "INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6
         WHERE ?7 OR EXISTS (SELECT 1 FROM companies h
                             WHERE h.id = ?5 AND h.head_office_id = ?5 AND NOT h.is_invited)
         ON CONFLICT (id) DO UPDATE
         SET name = excluded.name, kind = excluded.kind, head_office_id = excluded.head_office_id,
             created_at = excluded.created_at, contact_name = NULL, contact_email = NULL,
             contact_phone = NULL, is_invited = FALSE
         WHERE companies.cnpj = excluded.cnpj AND companies.is_invited",
    )
    .bind(company.id.as_uuid().as_bytes().as_slice())
    .bind(company.cnpj.as_str())
    .bind(company.name.as_str())
    .bind(company.kind.as_str())
    .bind(head_office.as_uuid().as_bytes().as_slice())
    .bind(company.created_at.unix_millis())
    .bind(company.head_office.is_none())
    .execute(&mut *connection)
    .await?;
    if done.rows_affected() == 1 {
        return Ok(());
    }
    // What caused the conflict: its tax id, or its head office.
    let taken = by_cnpj(connection, company.cnpj).await?;
    Err(if taken.is_some() {
        WriteError::Conflict
    } else {
        WriteError::NotFound
    })
}

async fn rename(
    connection: &mut SqliteConnection,
    id: CompanyId,
    name: &CompanyName,
) -> Result<Company, WriteError> {
    let row = sqlx::query(
        "UPDATE companies SET name = ?2 WHERE id = ?1 AND NOT is_invited
         RETURNING id, cnpj, name, kind, head_office_id, contact_name, contact_email, contact_phone,
             created_at, is_invited, suspended_at, suspension_reason",
    )
    .bind(id.as_uuid().as_bytes().as_slice())
    .bind(name.as_str())
    .fetch_optional(connection)
    .await?;
    Ok(company(row.as_ref().ok_or(WriteError::NotFound)?)?)
}

async fn by_cnpj(connection: &mut SqliteConnection, cnpj: Cnpj) -> Result<Option<Company>, Fault> {
    let row = sqlx::query(
        "SELECT id, cnpj, name, kind, head_office_id, contact_name, contact_email, contact_phone,
                created_at, is_invited, suspended_at, suspension_reason
         FROM companies WHERE cnpj = ?1",
    )
    .bind(cnpj.as_str())
    .fetch_optional(connection)
    .await?;
    Ok(row.as_ref().map(company).transpose()?)
}

async fn invitations(
    connection: &mut SqliteConnection,
    supplier: CompanyId,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<Page<Invitation>, Fault> {
    let total = sqlx::query(
        "SELECT count(*) FROM supplier_invitations i JOIN companies c ON c.id = i.supplier_id
         WHERE i.supplier_id = ?1 AND c.is_invited",
    )
    .bind(supplier.as_uuid().as_bytes().as_slice())
    .fetch_one(&mut *connection)
    .await?;
    let rows = sqlx::query(
        "SELECT i.head_office_id, i.name, i.contact_name, i.contact_email, i.contact_phone,
                i.invited_at
         FROM supplier_invitations i JOIN companies c ON c.id = i.supplier_id
         WHERE i.supplier_id = ?1 AND c.is_invited
         ORDER BY i.invited_at DESC, i.head_office_id DESC LIMIT ?2 OFFSET ?3",
    )
    .bind(supplier.as_uuid().as_bytes().as_slice())
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(connection)
    .await?;
    Ok(Page {
        items: set_aside.readable(&rows, invitation),
        total: count(total.try_get(0)?),
    })
}

async fn list(
    connection: &mut SqliteConnection,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<Page<Company>, Fault> {
    let total = sqlx::query("SELECT count(*) FROM companies")
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(
        "SELECT id, cnpj, name, kind, head_office_id, contact_name, contact_email, contact_phone,
                created_at, is_invited, suspended_at, suspension_reason
         FROM companies ORDER BY created_at DESC, id DESC LIMIT ?1 OFFSET ?2",
    )
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(connection)
    .await?;
    Ok(Page {
        items: set_aside.readable(&rows, company),
        total: count(total.try_get(0)?),
    })
}
