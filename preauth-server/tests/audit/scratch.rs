//! Databases that can be copied: one is filled, and each test corrupts its own copy.

use std::path::PathBuf;
use std::sync::Arc;

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use tempfile::TempDir;

use crate::cluster;

/// The kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// A database that no process keeps open.
#[derive(Debug)]
pub(crate) enum Scratch {
    Sqlite { folder: Arc<TempDir>, file: PathBuf },
    Postgres { name: String },
}

impl Scratch {
    /// A database without a schema.
    pub(crate) async fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Sqlite => {
                let folder = Arc::new(TempDir::new().unwrap());
                let file = folder.path().join(format!("{}.db", cluster::new_name()));
                Self::Sqlite { folder, file }
            }
            Kind::Postgres => Self::create("template0").await,
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite { file, .. } => format!("sqlite://{}", file.display()),
            Self::Postgres { name } => format!("{}/{name}", cluster::url()),
        }
    }

    /// A copy with the same content; this one must not be open.
    pub(crate) async fn copy(&self) -> Self {
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
    pub(crate) async fn execute(&self, statements: &[&str]) {
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
