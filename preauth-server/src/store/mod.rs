//! Where everything is kept: one database behind all the ports, chosen by its URL.
//!
//! [`open`] is the only way in. What it gives out are ports; which database stands behind them is
//! known here and nowhere else.

mod housekeeping;
mod lifecycle;
mod numbers;
mod open_error;
pub mod sqlite;

use std::sync::Arc;

use preauth_core::port::{Outbox, Queries, Store};

use crate::access::Access;
use crate::directory::Directory;

pub use housekeeping::Housekeeping;
pub use lifecycle::Lifecycle;
pub use numbers::Numbers;
pub use open_error::OpenError;

use sqlite::SqliteStore;

/// All ports of one database.
#[derive(Clone)]
pub struct Stores {
    /// Consistent loads and atomic commits.
    pub store: Arc<dyn Store>,
    /// Deliveries on their way.
    pub outbox: Arc<dyn Outbox>,
    /// Reads for answers.
    pub queries: Arc<dyn Queries>,
    /// Keys and rate windows.
    pub access: Arc<dyn Access>,
    /// What the platform's people keep.
    pub directory: Arc<dyn Directory>,
    /// Ids that a request takes before it is judged.
    pub numbers: Arc<dyn Numbers>,
    /// What the janitor removes.
    pub housekeeping: Arc<dyn Housekeeping>,
    /// Readiness, wake-ups and the end.
    pub lifecycle: Arc<dyn Lifecycle>,
}

impl std::fmt::Debug for Stores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}

impl From<SqliteStore> for Stores {
    fn from(store: SqliteStore) -> Self {
        let store = Arc::new(store);
        Self {
            store: Arc::<SqliteStore>::clone(&store),
            outbox: Arc::<SqliteStore>::clone(&store),
            queries: Arc::<SqliteStore>::clone(&store),
            access: Arc::<SqliteStore>::clone(&store),
            directory: Arc::<SqliteStore>::clone(&store),
            numbers: Arc::<SqliteStore>::clone(&store),
            housekeeping: Arc::<SqliteStore>::clone(&store),
            lifecycle: store,
        }
    }
}

/// Opens the database that `url` names: `sqlite://PATH`, relative to the working directory or
/// absolute (`sqlite:///var/lib/preauth/preauth.db`).
///
/// A SQLite database is created when it does not exist and migrated to this build's schema.
/// `postgres://` is understood and refused: this build has no such store.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let url = format!("sqlite://{}/preauth.db", folder.path().display());
/// let stores = preauth_server::store::open(&url).await?;
/// stores.lifecycle.check().await?;
/// stores.lifecycle.close().await;
/// # Ok(())
/// # }
/// ```
pub async fn open(url: &str) -> Result<Stores, OpenError> {
    match url.split_once("://") {
        Some(("sqlite", path)) => Ok(SqliteStore::open(path.as_ref()).await?.into()),
        Some(("postgres" | "postgresql", _)) => Err(OpenError::PostgresNotSupported),
        Some(_) | None => Err(OpenError::UnknownScheme),
    }
}

#[cfg(test)]
mod tests {
    use super::{OpenError, open};

    #[tokio::test]
    async fn postgres_is_named_as_not_supported_yet() {
        for url in ["postgres://db/preauth", "postgresql://db/preauth"] {
            let error = open(url).await.unwrap_err();
            assert!(matches!(error, OpenError::PostgresNotSupported), "{url}");
        }
    }

    #[tokio::test]
    async fn a_url_of_another_database_is_refused() {
        for url in ["mysql://db/preauth", "preauth.db", "", "sqlite:preauth.db"] {
            let error = open(url).await.unwrap_err();
            assert!(matches!(error, OpenError::UnknownScheme), "{url}");
        }
    }

    #[tokio::test]
    async fn a_url_without_a_file_is_refused() {
        for url in [
            "sqlite://",
            "sqlite://:memory:",
            "sqlite://a.db?mode=rwc",
            "sqlite:///",
            "sqlite://..",
        ] {
            let error = open(url).await.unwrap_err();
            assert!(matches!(error, OpenError::NoFile), "{url}");
        }
    }
}
