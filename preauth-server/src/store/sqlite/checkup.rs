//! Examines a database file without changing its folder.

use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::clock::{Clock, SystemClock};
use crate::store::error::Fault;
use crate::store::sql::endpoints::all_secrets;
use crate::store::{Checkup, Contents, OpenError};

use super::archive::options;
use super::open::{check_path, check_place, database_error, refuse_half_restored};
use super::{identity, migrations, moments};

const SOFTWARE: &str = "SQLite";

/// The state of the file at `path`, which need not exist.
pub(in crate::store) async fn check_up(path: &Path) -> Result<Checkup, OpenError> {
    check_path(path)?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    // The first start makes the folder, too.
    if folder.is_none_or(Path::exists) {
        check_place(path)?;
    }
    refuse_half_restored(path)?;
    if !path.metadata().is_ok_and(|file| file.len() > 0) {
        return Ok(Checkup {
            software: SOFTWARE.to_owned(),
            schema: None,
            contents: None,
            server: None,
        });
    }
    // A reader of a database without its log would leave the files of one behind.
    let is_closed = !log_of(path).exists();
    let opened = options(path).immutable(is_closed).connect().await;
    let mut connection = opened.map_err(|cause| database_error(path, cause))?;
    let looked = look(&mut connection, path).await;
    let _ = connection.close().await;
    looked.map_err(|fault| OpenError::Database {
        path: path.to_owned(),
        cause: Box::new(fault),
    })
}

async fn look(connection: &mut SqliteConnection, path: &Path) -> Result<Checkup, Fault> {
    let schema = match migrations::pending(connection).await {
        Ok(pending) => Ok(pending),
        Err(Fault::Schema(mismatch)) => Err(mismatch),
        Err(fault) => return Err(fault),
    };
    // An older schema has no events, or keeps them in another way.
    let is_current = schema
        .as_ref()
        .is_ok_and(|pending| pending.steps.is_empty());
    let contents = if is_current {
        Some(Contents {
            moments: moments(&mut *connection).await?,
            deployment: identity::read(connection, path).await?,
            secrets: all_secrets(connection, SystemClock.now()).await?,
        })
    } else {
        None
    };
    let version: String = sqlx::query_scalar("SELECT sqlite_version()")
        .fetch_one(connection)
        .await?;
    Ok(Checkup {
        software: format!("{SOFTWARE} {version}"),
        schema: Some(schema),
        contents,
        server: None,
    })
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}
