//! Databases that can be copied: one is filled, and each test corrupts its own copy.

use std::path::PathBuf;
use std::sync::Arc;

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use tempfile::TempDir;

use crate::{Backend, cluster};

/// A database that no process keeps open.
#[derive(Debug)]
pub enum Scratch {
    /// A file.
    Sqlite {
        /// Removed with its last copy.
        folder: Arc<TempDir>,
        /// Its path.
        file: PathBuf,
    },
    /// A database of the tests' server.
    Postgres {
        /// Its name there.
        name: String,
    },
}

impl Scratch {
    /// A database without a schema.
    pub async fn empty(backend: Backend) -> Self {
        match backend {
            Backend::Sqlite => {
                let folder = Arc::new(TempDir::new().unwrap());
                let file = folder.path().join(format!("{}.db", cluster::new_name()));
                Self::Sqlite { folder, file }
            }
            Backend::Postgres => Self::create("template0").await,
        }
    }

    /// Its URL, as the service takes it.
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite { file, .. } => format!("sqlite://{}", file.display()),
            Self::Postgres { name } => format!("{}/{name}", cluster::url()),
        }
    }

    /// A copy with the same content; this one must not be open.
    pub async fn copy(&self) -> Self {
        match self {
            Self::Sqlite { folder, file } => {
                let copy = folder.path().join(format!("{}.db", cluster::new_name()));
                std::fs::copy(file, &copy).unwrap();
                Self::Sqlite {
                    folder: Arc::clone(folder),
                    file: copy,
                }
            }
            Self::Postgres { name } => Self::create(name).await,
        }
    }

    /// Executes statements directly, without the server.
    pub async fn execute(&self, statements: &[&str]) {
        match self {
            Self::Sqlite { file, .. } => {
                let options = SqliteConnectOptions::new().filename(file);
                let mut connection = options.foreign_keys(false).connect().await.unwrap();
                for statement in statements {
                    connection
                        .execute(AssertSqlSafe((*statement).to_owned()))
                        .await
                        .unwrap();
                }
                connection.close().await.unwrap();
            }
            Self::Postgres { .. } => {
                let mut connection = PgConnection::connect(&self.url()).await.unwrap();
                for statement in statements {
                    connection
                        .execute(AssertSqlSafe((*statement).to_owned()))
                        .await
                        .unwrap();
                }
                connection.close().await.unwrap();
            }
        }
    }

    async fn create(template: &str) -> Self {
        let name = cluster::new_name();
        let admin = format!("{}/postgres", cluster::url());
        let mut admin = PgConnection::connect(&admin).await.unwrap();
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        admin.execute(AssertSqlSafe(create)).await.unwrap();
        admin.close().await.unwrap();
        Self::Postgres { name }
    }
}
