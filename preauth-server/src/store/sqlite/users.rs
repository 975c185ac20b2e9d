//! Users.

use async_trait::async_trait;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{CompanyId, Email, PersonName, UserId};
use sqlx::{Row, SqliteConnection};

use crate::directory::{DirectoryError, Page, User, UserChange, Users};
use crate::store::rows::user;
use crate::store::set_aside::SetAside;

use super::SqliteStore;
use super::error::{Fault, WriteError, one_row_or};
use super::platform_replies::remember;
use super::rows::{clamped, count, set_text};

#[async_trait]
impl Users for SqliteStore {
    async fn add_user(&self, user: &User, reply: Option<&NewReply>) -> Result<(), DirectoryError> {
        let input = (user.clone(), reply.cloned());
        let added = self.writer.write(input, |connection, (user, reply)| {
            Box::pin(async move {
                insert(connection, user).await?;
                remember(connection, reply.as_ref(), user.created_at).await
            })
        });
        Ok(added.await?)
    }

    async fn user(&self, id: UserId) -> Result<Option<User>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(one(&mut reader, id).await?)
    }

    async fn users(
        &self,
        company: CompanyId,
        page: PageRequest,
    ) -> Result<Page<User>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(list(&mut snapshot, company, page, &self.set_aside).await?)
    }

    async fn update_user(&self, id: UserId, change: &UserChange) -> Result<User, DirectoryError> {
        let updated = self
            .writer
            .write((id, change.clone()), |connection, (id, change)| {
                Box::pin(update(connection, *id, change))
            });
        Ok(updated.await?)
    }
}

async fn one(connection: &mut SqliteConnection, id: UserId) -> Result<Option<User>, Fault> {
    let row = sqlx::query(
        "SELECT id, company_id, name, email, permissions, active, created_at
         FROM users WHERE id = ?1",
    )
    .bind(id.as_uuid().as_bytes().as_slice())
    .fetch_optional(connection)
    .await?;
    Ok(row.as_ref().map(user).transpose()?)
}

async fn insert(connection: &mut SqliteConnection, user: &User) -> Result<(), WriteError> {
    let done = sqlx::query(
        "INSERT INTO users (id, company_id, name, email, permissions, active, created_at)
         SELECT ?1, c.id, ?3, ?4, ?5, ?6, ?7 FROM companies c WHERE c.id = ?2",
    )
    .bind(user.id.as_uuid().as_bytes().as_slice())
    .bind(user.company.as_uuid().as_bytes().as_slice())
    .bind(user.name.as_str())
    .bind(user.email.as_str())
    .bind(set_text(user.permissions))
    .bind(user.active)
    .bind(user.created_at.unix_millis())
    .execute(connection)
    .await?;
    one_row_or(done.rows_affected(), WriteError::NotFound)
}

/// Writes the named columns in one statement, so that concurrent changes are all kept.
async fn update(
    connection: &mut SqliteConnection,
    id: UserId,
    change: &UserChange,
) -> Result<User, WriteError> {
    sqlx::query(
        "UPDATE users SET name = coalesce(?2, name), email = coalesce(?3, email),
             permissions = coalesce(?4, permissions), active = coalesce(?5, active)
         WHERE id = ?1",
    )
    .bind(id.as_uuid().as_bytes().as_slice())
    .bind(change.name.as_ref().map(PersonName::as_str))
    .bind(change.email.as_ref().map(Email::as_str))
    .bind(change.permissions.map(set_text))
    .bind(change.active)
    .execute(&mut *connection)
    .await?;
    one(connection, id).await?.ok_or(WriteError::NotFound)
}

async fn list(
    connection: &mut SqliteConnection,
    company: CompanyId,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<Page<User>, Fault> {
    let total = sqlx::query("SELECT count(*) FROM users WHERE company_id = ?1")
        .bind(company.as_uuid().as_bytes().as_slice())
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(
        "SELECT id, company_id, name, email, permissions, active, created_at
         FROM users WHERE company_id = ?1
         ORDER BY created_at DESC, id DESC LIMIT ?2 OFFSET ?3",
    )
    .bind(company.as_uuid().as_bytes().as_slice())
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(connection)
    .await?;
    Ok(Page {
        items: set_aside.readable(&rows, user),
        total: count(total.try_get(0)?),
    })
}
