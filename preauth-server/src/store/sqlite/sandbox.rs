//! A sandbox's mark in a file.

use std::path::Path;

use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, Row};

use crate::access::KeyHash;
use crate::files;
use crate::store::OpenError;
use crate::store::sandbox::mark::{
    HOLDS_KEY, MAKE_TABLE, MARK, READ, SEEDED, SandboxId, SandboxMark, TABLE,
};

use super::archive;
use super::open::{check_path, check_place, database_error, lock, make_file, make_folder, writing};

/// The state of a file for a sandbox.
enum Found {
    Marked(SandboxMark),
    /// Empty, or recognised by the key of a complete sandbox of an earlier version.
    Claimable {
        is_seeded: bool,
    },
}

pub(in crate::store) async fn claim_for_sandbox(
    path: &Path,
    id: &SandboxId,
    known: Option<&KeyHash>,
) -> Result<SandboxMark, OpenError> {
    check_path(path)?;
    if path.exists() {
        check_place(path)?;
    }
    // A connection that could write would change the file's header.
    if let Found::Marked(mark) = look(path, known).await? {
        return Ok(mark);
    }
    make_folder(path)?;
    check_place(path)?;
    let _lock = lock(path)?;
    make_file(path)?;
    let Found::Claimable { is_seeded } = look(path, known).await? else {
        return Err(OpenError::NotASandboxs);
    };
    let mut connection = writing(path).connect().await.map_err(failed(path))?;
    let marked = mark(&mut connection, id, is_seeded).await;
    let closed = connection.close().await;
    marked.and(closed).map_err(failed(path))?;
    Ok(SandboxMark {
        id: id.clone(),
        is_seeded,
    })
}

pub(in crate::store) async fn sandbox_is_seeded(path: &Path) -> Result<(), OpenError> {
    let mut connection = writing(path).connect().await.map_err(failed(path))?;
    let done = sqlx::query(SEEDED).execute(&mut connection).await;
    let closed = connection.close().await;
    done.map(drop).and(closed).map_err(failed(path))
}

pub(in crate::store) async fn discard_sandbox(
    path: &Path,
    id: &SandboxId,
) -> Result<(), OpenError> {
    let _lock = lock(path)?;
    match look(path, None).await? {
        Found::Marked(mark) if mark.id == *id && !mark.is_seeded => {}
        Found::Marked(_) | Found::Claimable { .. } => return Err(OpenError::NotASandboxs),
    }
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        let removed = files::remove_if_there(Path::new(&file));
        removed.map_err(|cause| OpenError::File {
            path: path.to_owned(),
            cause,
        })?;
    }
    Ok(())
}

async fn look(path: &Path, known: Option<&KeyHash>) -> Result<Found, OpenError> {
    let is_nothing = path.metadata().is_ok_and(|metadata| metadata.len() == 0);
    if is_nothing || !path.exists() {
        return Ok(Found::Claimable { is_seeded: false });
    }
    let options = archive::options(path);
    let mut connection = options.connect().await.map_err(failed(path))?;
    let found = read(&mut connection, known).await;
    // A failure to close is irrelevant.
    let _ = connection.close().await;
    found.map_err(failed(path))?.ok_or(OpenError::NotASandboxs)
}

async fn read(
    connection: &mut SqliteConnection,
    known: Option<&KeyHash>,
) -> Result<Option<Found>, sqlx::Error> {
    if has_table(connection, TABLE).await? {
        let row = sqlx::query(READ).fetch_optional(connection).await?;
        let Some(row) = row else { return Ok(None) };
        let id: String = row.try_get("id")?;
        let is_seeded = row.try_get("is_seeded")?;
        let mark = |id| Found::Marked(SandboxMark { id, is_seeded });
        return Ok(id.parse().ok().map(mark));
    }
    let objects: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_master")
        .fetch_one(&mut *connection)
        .await?;
    if objects == 0 {
        return Ok(Some(Found::Claimable { is_seeded: false }));
    }
    let Some(KeyHash(hash)) = known else {
        return Ok(None);
    };
    let is_known = has_table(connection, "api_keys").await?
        && sqlx::query_scalar(HOLDS_KEY)
            .bind(&hash[..])
            .fetch_one(connection)
            .await?;
    Ok(is_known.then_some(Found::Claimable { is_seeded: true }))
}

async fn has_table(connection: &mut SqliteConnection, name: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)",
    )
    .bind(name)
    .fetch_one(connection)
    .await
}

async fn mark(
    connection: &mut SqliteConnection,
    id: &SandboxId,
    is_seeded: bool,
) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query(MAKE_TABLE).execute(&mut *transaction).await?;
    sqlx::query(MARK)
        .bind(id.as_str())
        .bind(is_seeded)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}

fn failed(path: &Path) -> impl FnOnce(sqlx::Error) -> OpenError {
    move |cause| database_error(path, cause)
}
