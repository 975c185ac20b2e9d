//! Companies, with credit analyses and block lists.

/// What a company is read from.
macro_rules! columns {
    () => {
        "id, cnpj, name, kind, head_office_id, contact_name, contact_email, contact_phone,
         created_at, is_invited, suspended_at, suspension_reason"
    };
}

mod decisions;
mod invitations;
mod suspension;

use async_trait::async_trait;
use preauth_core::operation::Credit;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{Cnpj, CompanyId, CompanyName, Timestamp};

use crate::directory::{Companies, Company, DirectoryError, Invitation, Page, Suspension};
use crate::store::error::{Fault, WriteError};
use crate::store::rows::{clamped, company, invitation};

use super::{Database, Listed, Session, query, remember};

#[async_trait]
impl<D: Database> Companies for D {
    async fn add_company(
        &self,
        company: &Company,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError> {
        let input = (company.clone(), reply.cloned());
        let added = self.write(input, |session, (company, reply)| {
            Box::pin(async move {
                insert(session, company).await?;
                remember(session, reply.as_ref(), company.created_at).await
            })
        });
        Ok(added.await?)
    }

    async fn rename_company(
        &self,
        id: CompanyId,
        name: &CompanyName,
    ) -> Result<Company, DirectoryError> {
        let renamed = self.write((id, name.clone()), |session, (id, name)| {
            Box::pin(rename(session, *id, name))
        });
        Ok(renamed.await?)
    }

    async fn invitations(
        &self,
        supplier: CompanyId,
        page: PageRequest,
    ) -> Result<Page<Invitation>, Unavailable> {
        let input = (supplier, page);
        let listed = self.read_snapshot(&input, |session, (supplier, page)| {
            Box::pin(invitations::list(session, *supplier, *page))
        });
        Ok(listed.await?.page(self.set_aside(), invitation))
    }

    async fn company(&self, id: CompanyId) -> Result<Option<Company>, Unavailable> {
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn company_by_cnpj(&self, cnpj: &Cnpj) -> Result<Option<Company>, Unavailable> {
        let found = self.read(cnpj, |session, cnpj| Box::pin(by_cnpj(session, *cnpj)));
        Ok(found.await?)
    }

    async fn suspend_company(
        &self,
        id: CompanyId,
        suspension: &Suspension,
    ) -> Result<Company, DirectoryError> {
        let input = (id, suspension.clone());
        let suspended = self.write(input, |session, input| {
            Box::pin(suspension::begin(session, input))
        });
        Ok(suspended.await?)
    }

    async fn resume_company(&self, id: CompanyId) -> Result<Company, DirectoryError> {
        let resumed = self.write(id, |session, id| Box::pin(suspension::end(session, *id)));
        Ok(resumed.await?)
    }

    async fn branches(
        &self,
        head_office: CompanyId,
        page: PageRequest,
    ) -> Result<Page<Company>, Unavailable> {
        let input = (head_office, page);
        let listed = self.read_snapshot(&input, |session, (head_office, page)| {
            Box::pin(list_branches(session, *head_office, *page))
        });
        Ok(listed.await?.page(self.set_aside(), company))
    }

    async fn companies(&self, page: PageRequest) -> Result<Page<Company>, Unavailable> {
        let listed = self.read_snapshot(&page, |session, page| Box::pin(list(session, *page)));
        Ok(listed.await?.page(self.set_aside(), company))
    }

    async fn set_credit(
        &self,
        company: CompanyId,
        credit: Credit,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let set = self.write((company, credit, at), |session, input| {
            Box::pin(decisions::set_credit(session, input))
        });
        Ok(set.await?)
    }

    async fn credit(&self, company: CompanyId) -> Result<Option<Credit>, Unavailable> {
        let found = self.read(&company, |session, company| {
            Box::pin(decisions::credit(session, *company))
        });
        Ok(found.await?)
    }

    async fn block_supplier(
        &self,
        company: CompanyId,
        supplier: &Cnpj,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let blocked = self.write((company, *supplier, at), |session, input| {
            Box::pin(decisions::block(session, input))
        });
        Ok(blocked.await?)
    }

    async fn unblock_supplier(
        &self,
        company: CompanyId,
        supplier: &Cnpj,
    ) -> Result<(), DirectoryError> {
        let unblocked = self.write((company, *supplier), |session, input| {
            Box::pin(decisions::unblock(session, input))
        });
        Ok(unblocked.await?)
    }

    async fn blocked_suppliers(&self, company: CompanyId) -> Result<Vec<Cnpj>, Unavailable> {
        let blocked = self.read(&company, |session, company| {
            Box::pin(decisions::blocked(session, *company))
        });
        let rows = blocked.await?;
        Ok(self
            .set_aside()
            .readable(&rows, decisions::blocked_supplier))
    }
}

/// Registers a company, whose parent must be a head office; an invited supplier keeps its id.
async fn insert(session: &mut dyn Session, company: &Company) -> Result<(), WriteError> {
    let head_office = company.head_office.unwrap_or(company.id);
    let done = query(
        "INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at)
         SELECT $1, $2, $3, $4, $5, $6
         WHERE $7 OR EXISTS (SELECT 1 FROM companies h
                             WHERE h.id = $5 AND h.head_office_id = $5 AND NOT h.is_invited)
         ON CONFLICT (id) DO UPDATE
         SET name = excluded.name, kind = excluded.kind, head_office_id = excluded.head_office_id,
             created_at = excluded.created_at, contact_name = NULL, contact_email = NULL,
             contact_phone = NULL, is_invited = FALSE
         WHERE companies.cnpj = excluded.cnpj AND companies.is_invited",
    )
    .bind(company.id.as_uuid())
    .bind(company.cnpj.as_str())
    .bind(company.name.as_str())
    .bind(company.kind.as_str())
    .bind(head_office.as_uuid())
    .bind(company.created_at.unix_millis())
    .bind(company.head_office.is_none())
    .execute(session)
    .await?;
    if done == 1 {
        return Ok(());
    }
    // The cause of the conflict: its tax id, or its head office.
    let taken = by_cnpj(session, company.cnpj).await?;
    Err(if taken.is_some() {
        WriteError::Conflict
    } else {
        WriteError::NotFound
    })
}

async fn rename(
    session: &mut dyn Session,
    id: CompanyId,
    name: &CompanyName,
) -> Result<Company, WriteError> {
    let row = query(concat!(
        "UPDATE companies SET name = $2 WHERE id = $1 AND NOT is_invited RETURNING ",
        columns!()
    ))
    .bind(id.as_uuid())
    .bind(name.as_str())
    .fetch_optional(session)
    .await?;
    Ok(company(row.as_ref().ok_or(WriteError::NotFound)?)?)
}

async fn by_id(session: &mut dyn Session, id: CompanyId) -> Result<Option<Company>, Fault> {
    let row = query(concat!(
        "SELECT ",
        columns!(),
        " FROM companies WHERE id = $1"
    ))
    .bind(id.as_uuid())
    .fetch_optional(session)
    .await?;
    Ok(row.as_ref().map(company).transpose()?)
}

async fn by_cnpj(session: &mut dyn Session, cnpj: Cnpj) -> Result<Option<Company>, Fault> {
    let row = query(concat!(
        "SELECT ",
        columns!(),
        " FROM companies WHERE cnpj = $1"
    ))
    .bind(cnpj.as_str())
    .fetch_optional(session)
    .await?;
    Ok(row.as_ref().map(company).transpose()?)
}

async fn list(session: &mut dyn Session, page: PageRequest) -> Result<Listed, Fault> {
    let total = query("SELECT count(*) AS total FROM companies")
        .total(session)
        .await?;
    let rows = query(concat!(
        "SELECT ",
        columns!(),
        " FROM companies ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2"
    ))
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(session)
    .await?;
    Ok(Listed::whole(rows, total))
}

/// A head office names itself as its head office, and is no branch.
async fn list_branches(
    session: &mut dyn Session,
    head_office: CompanyId,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let total =
        query("SELECT count(*) AS total FROM companies WHERE head_office_id = $1 AND id <> $1")
            .bind(head_office.as_uuid())
            .total(session)
            .await?;
    let rows = query(concat!(
        "SELECT ",
        columns!(),
        " FROM companies WHERE head_office_id = $1 AND id <> $1
         ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3"
    ))
    .bind(head_office.as_uuid())
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(session)
    .await?;
    Ok(Listed::whole(rows, total))
}
