//! The register of companies, with credit analyses and block lists.

mod decisions;
mod suspension;

use async_trait::async_trait;
use preauth_core::operation::Credit;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{Cnpj, CompanyId, Phone, Timestamp};
use sqlx::{Row, SqliteConnection};

use crate::directory::{Companies, Company, DirectoryError, Page, Suspension};
use crate::store::rows::company;
use crate::store::set_aside::SetAside;

use super::SqliteStore;
use super::error::{Fault, WriteError, one_row_or};
use super::platform_replies::remember;
use super::rows::{clamped, count};

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

    async fn company(&self, id: CompanyId) -> Result<Option<Company>, Unavailable> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(
            "SELECT id, cnpj, name, kind, head_office_id, contact_name, contact_email,
                    contact_phone, created_at, suspended_at, suspension_reason
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
        let row = sqlx::query(
            "SELECT id, cnpj, name, kind, head_office_id, contact_name, contact_email,
                    contact_phone, created_at, suspended_at, suspension_reason
             FROM companies WHERE cnpj = ?1",
        )
        .bind(cnpj.as_str())
        .fetch_optional(&mut *reader)
        .await
        .map_err(Fault::from)?;
        Ok(row.as_ref().map(company).transpose()?)
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

/// Registers a company, below a head office that is one.
async fn insert(connection: &mut SqliteConnection, company: &Company) -> Result<(), WriteError> {
    let head_office = company.head_office.unwrap_or(company.id);
    let contact = company.contact.as_ref();
    let done = sqlx::query(
        "INSERT INTO companies (id, cnpj, name, kind, head_office_id, contact_name, contact_email,
             contact_phone, created_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
         WHERE ?10 OR EXISTS (SELECT 1 FROM companies h WHERE h.id = ?5 AND h.head_office_id = ?5)",
    )
    .bind(company.id.as_uuid().as_bytes().as_slice())
    .bind(company.cnpj.as_str())
    .bind(company.name.as_str())
    .bind(company.kind.as_str())
    .bind(head_office.as_uuid().as_bytes().as_slice())
    .bind(contact.map(|contact| contact.name.as_str()))
    .bind(contact.map(|contact| contact.email.as_str()))
    .bind(
        contact
            .and_then(|contact| contact.phone.as_ref())
            .map(Phone::as_str),
    )
    .bind(company.created_at.unix_millis())
    .bind(company.head_office.is_none())
    .execute(connection)
    .await?;
    one_row_or(done.rows_affected(), WriteError::NotFound)
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
                created_at, suspended_at, suspension_reason
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
