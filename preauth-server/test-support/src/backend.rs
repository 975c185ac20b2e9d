//! The databases that a test runs on: each of them, one after the other.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::Database;

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A file in the data folder.
    Sqlite,
    /// A separate database on the tests' server.
    Postgres,
}

/// The data that a server restarts from: its folder and its database.
pub struct Home {
    folder: TempDir,
    database: Option<Database>,
}

impl Home {
    /// An empty one.
    pub async fn new(backend: Backend) -> Self {
        let database = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(Database::fresh().await),
        };
        Self {
            folder: TempDir::new().unwrap(),
            database,
        }
    }

    /// One for a sandbox, which takes no database that another server migrated.
    pub async fn of_a_sandbox(backend: Backend) -> Self {
        let database = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(Database::empty().await),
        };
        Self {
            folder: TempDir::new().unwrap(),
            database,
        }
    }

    /// The folder, with `data` and the ready file in it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a master key unless there is one: on PostgreSQL the server does not create it.
    pub fn give_master_key(&self) {
        let data = self.folder().join("data");
        let key = data.join("master.key");
        if self.database.is_some() && !key.exists() {
            std::fs::create_dir_all(&data).unwrap();
            write_secret(&key, &"ab".repeat(32));
        }
    }

    /// The flags that name its database; none for the default file.
    pub fn database_flags(&self) -> Vec<String> {
        let url = self.database.iter().map(Database::url);
        url.flat_map(|url| ["--database".to_owned(), url]).collect()
    }
}

/// Writes a file that only its owner may read, as operators do.
pub fn write_secret(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    let owner_only = PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, owner_only).unwrap();
}

/// Generates two tests from each of these functions: `sqlite::NAME` and `postgres::NAME`. A
/// function that takes a [`Backend`] and is not listed is never called; the compiler reports it as
/// unused.
#[macro_export]
macro_rules! on_each_database {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name($crate::Backend::Sqlite).await;
            })+
        }
        mod postgres {
            $(#[tokio::test]
            async fn $name() {
                super::$name($crate::Backend::Postgres).await;
            })+
        }
    };
}
