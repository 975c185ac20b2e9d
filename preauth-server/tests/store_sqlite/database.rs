//! A SQLite file for each test.

use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use tempfile::TempDir;

pub(crate) type Sql = SqlitePool;

/// A folder with one database in it.
pub(crate) struct Database {
    folder: PathBuf,
    /// Removed when the database that created it is dropped.
    _owned: Option<TempDir>,
}

impl Database {
    #[expect(
        clippy::unused_async,
        reason = "on other databases there is something to wait for"
    )]
    pub(crate) async fn fresh() -> Self {
        let owned = TempDir::new().unwrap();
        Self {
            folder: owned.path().to_owned(),
            _owned: Some(owned),
        }
    }

    /// A database in a folder that may already exist, and that stays.
    pub(crate) fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            _owned: None,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite://{}/preauth.db", self.folder.display())
    }

    pub(crate) async fn sql(&self) -> Sql {
        let file = SqliteConnectOptions::new().filename(self.folder.join("preauth.db"));
        SqlitePool::connect_with(file).await.unwrap()
    }
}
