//! A sandbox's mark in a database on a server.

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Connection, Row};

use crate::access::KeyHash;
use crate::store::sandbox::mark::{
    HOLDS_KEY, MAKE_TABLE, MARK, READ, SEEDED, SandboxId, SandboxMark, TABLE,
};
use crate::store::{DatabaseUrl, OpenError};

use super::migrations::TURN;
use super::open::{connect, name, options, unreachable};

/// Whether there is no object in any schema, except those of extensions.
const IS_EMPTY: &str = "SELECT NOT EXISTS (
         SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
           AND n.nspname !~ '^pg_(toast|temp)'
           AND NOT EXISTS (SELECT 1 FROM pg_depend d
                WHERE d.classid = 'pg_class'::REGCLASS AND d.objid = c.oid AND d.deptype = 'e'))";

pub(in crate::store) async fn claim_for_sandbox(
    url: &DatabaseUrl,
    id: &SandboxId,
    known: Option<&KeyHash>,
) -> Result<SandboxMark, OpenError> {
    let options = options(url)?;
    let mut connection = connect(&options).await?;
    let claimed = claim(&mut connection, id, known).await;
    // A failure to close is irrelevant.
    let _ = connection.close().await;
    match claimed {
        Ok(Some(mark)) => Ok(mark),
        Ok(None) => Err(OpenError::NotASandboxs),
        Err(cause @ sqlx::Error::Database(_)) => Err(OpenError::PostgresMigration {
            database: name(&options),
            cause: Box::new(cause),
        }),
        Err(cause) => Err(unreachable(&options, cause)),
    }
}

pub(in crate::store) async fn sandbox_is_seeded(url: &DatabaseUrl) -> Result<(), OpenError> {
    let options = options(url)?;
    let mut connection = connect(&options).await?;
    let done = sqlx::query(SEEDED).execute(&mut connection).await;
    let _ = connection.close().await;
    done.map(drop).map_err(|cause| unreachable(&options, cause))
}

/// The mark, created now if allowed; concurrent migrations are locked out.
async fn claim(
    connection: &mut PgConnection,
    id: &SandboxId,
    known: Option<&KeyHash>,
) -> Result<Option<SandboxMark>, sqlx::Error> {
    if has_table(connection, TABLE).await? {
        return read(connection).await;
    }
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(TURN)
        .execute(&mut *transaction)
        .await?;
    if has_table(&mut transaction, TABLE).await? {
        return read(&mut transaction).await;
    }
    let is_empty: bool = sqlx::query_scalar(IS_EMPTY)
        .fetch_one(&mut *transaction)
        .await?;
    let is_seeded = !is_empty;
    if is_seeded && !holds(&mut transaction, known).await? {
        return Ok(None);
    }
    sqlx::query(MAKE_TABLE).execute(&mut *transaction).await?;
    sqlx::query(MARK)
        .bind(id.as_str())
        .bind(is_seeded)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    let id = id.clone();
    Ok(Some(SandboxMark { id, is_seeded }))
}

async fn holds(
    connection: &mut PgConnection,
    known: Option<&KeyHash>,
) -> Result<bool, sqlx::Error> {
    let Some(KeyHash(hash)) = known else {
        return Ok(false);
    };
    if !has_table(connection, "api_keys").await? {
        return Ok(false);
    }
    sqlx::query_scalar(HOLDS_KEY)
        .bind(&hash[..])
        .fetch_one(connection)
        .await
}

async fn has_table(connection: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
        .bind(name)
        .fetch_one(connection)
        .await
}

async fn read(connection: &mut PgConnection) -> Result<Option<SandboxMark>, sqlx::Error> {
    let row = sqlx::query(READ).fetch_optional(connection).await?;
    row.map(|row: PgRow| {
        let id: String = row.try_get("id")?;
        let is_seeded = row.try_get("is_seeded")?;
        let mark = |id| SandboxMark { id, is_seeded };
        Ok(id.parse().ok().map(mark))
    })
    .transpose()
    .map(Option::flatten)
}
