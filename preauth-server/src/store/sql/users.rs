//! Users.

use async_trait::async_trait;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{CompanyId, Email, PersonName, UserId};

use crate::directory::{DirectoryError, Page, User, UserChange, Users};
use crate::store::error::{Fault, WriteError, one_row_or};
use crate::store::rows::{clamped, set_text, user};

use super::planner::read_in_index_order;
use super::{Database, Listed, Session, query, remember};

#[async_trait]
impl<D: Database> Users for D {
    async fn add_user(&self, user: &User, reply: Option<&NewReply>) -> Result<(), DirectoryError> {
        let input = (user.clone(), reply.cloned());
        let added = self.write(input, |session, (user, reply)| {
            Box::pin(async move {
                insert(session, user).await?;
                remember(session, reply.as_ref(), user.created_at).await
            })
        });
        Ok(added.await?)
    }

    async fn user(&self, id: UserId) -> Result<Option<User>, Unavailable> {
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn users(
        &self,
        company: CompanyId,
        page: PageRequest,
    ) -> Result<Page<User>, Unavailable> {
        let input = (company, page);
        let listed = self.read_snapshot(&input, |session, (company, page)| {
            Box::pin(list(session, *company, *page))
        });
        Ok(listed.await?.page(self.set_aside(), user))
    }

    async fn update_user(&self, id: UserId, change: &UserChange) -> Result<User, DirectoryError> {
        let updated = self.write((id, change.clone()), |session, (id, change)| {
            Box::pin(update(session, *id, change))
        });
        Ok(updated.await?)
    }
}

async fn insert(session: &mut dyn Session, user: &User) -> Result<(), WriteError> {
    let done = query(
        "INSERT INTO users (id, company_id, name, email, permissions, active, created_at)
         SELECT $1, c.id, $3, $4, $5, $6, $7 FROM companies c WHERE c.id = $2",
    )
    .bind(user.id.as_uuid())
    .bind(user.company.as_uuid())
    .bind(user.name.as_str())
    .bind(user.email.as_str())
    .bind(set_text(user.permissions))
    .bind(user.active)
    .bind(user.created_at.unix_millis())
    .execute(session)
    .await?;
    one_row_or(done, WriteError::NotFound)
}

/// Writes the named columns in one statement, so that concurrent changes are all kept.
async fn update(
    session: &mut dyn Session,
    id: UserId,
    change: &UserChange,
) -> Result<User, WriteError> {
    let row = query(
        "UPDATE users SET name = coalesce($2, name), email = coalesce($3, email),
             permissions = coalesce($4, permissions), active = coalesce($5, active)
         WHERE id = $1 AND erased_at IS NULL
         RETURNING id, company_id, name, email, permissions, active, created_at",
    )
    .bind(id.as_uuid())
    .bind(change.name.as_ref().map(PersonName::as_str))
    .bind(change.email.as_ref().map(Email::as_str))
    .bind(change.permissions.map(set_text))
    .bind(change.active)
    .fetch_optional(session)
    .await?;
    if let Some(row) = row {
        return Ok(user(&row)?);
    }
    let exists = by_id(session, id).await?.is_some();
    one_row_or(u64::from(exists), WriteError::NotFound)?;
    Err(WriteError::Conflict)
}

async fn by_id(session: &mut dyn Session, id: UserId) -> Result<Option<User>, Fault> {
    let row = query(
        "SELECT id, company_id, name, email, permissions, active, created_at
         FROM users WHERE id = $1",
    )
    .bind(id.as_uuid())
    .fetch_optional(session)
    .await?;
    Ok(row.as_ref().map(user).transpose()?)
}

async fn list(
    session: &mut dyn Session,
    company: CompanyId,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let total = query("SELECT count(*) AS total FROM users WHERE company_id = $1")
        .bind(company.as_uuid())
        .total(session)
        .await?;
    read_in_index_order(session).await?;
    let rows = query(
        "SELECT id, company_id, name, email, permissions, active, created_at
         FROM users WHERE company_id = $1
         ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3",
    )
    .bind(company.as_uuid())
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(session)
    .await?;
    Ok(Listed::whole(rows, total))
}
