//! The storage: one database behind all the ports, chosen by its URL.
//!
//! [`open`] is the only entry. It returns ports; only this module knows which database is behind
//! them.

mod addressee;
mod archive;
mod audited_commit;
pub mod backup;
mod checkup;
pub mod copying;
mod error;
mod exhausted;
mod finished;
mod full_mailboxes;
mod grouping;
mod housekeeping;
mod idle_stack;
mod lifecycle;
mod migrations;
mod open_error;
mod page_window;
pub mod postgres;
mod rows;
pub mod sandbox;
mod schema;
mod set_aside;
mod sql;
pub mod sqlite;
mod url;
mod watch;

use std::sync::Arc;

use preauth_core::port::{Archive, EventFeed, Outbox, Queries, Store};

use crate::access::Access;
use crate::directory::Directory;
use crate::feed::EventNumbers;
use crate::hold::Identity;
use crate::invoice_files::FileLedger;
use crate::mail::MailQueue;

pub use backup::BackupError;
pub use checkup::{Checkup, Contents, INSTANCE_CONNECTIONS, ServerCheckup};
use housekeeping::SETTLE_BATCH_SIZE;
pub use housekeeping::{Housekeeping, OldFiles};
pub use lifecycle::{Lifecycle, Moments, Unfit};
pub use open_error::OpenError;
pub use schema::{PendingSteps, SchemaMismatch};
pub use url::DatabaseUrl;
pub use watch::{Deadlines, LOOKED_AHEAD, Usage, Waiting, Watch, WriteQueue};

use postgres::{PostgresArchive, PostgresStore};
use sql::{Database, Reads};
use sqlite::{SqliteArchive, SqliteStore};
use url::Kind;

/// How far ids are advanced in a copy, and for each timeline of PostgreSQL. If two standbys are promoted one after
/// the other, the second does not know which ids the first assigned; it only knows that its own timeline is later. The
/// margin must exceed the number of ids that a primary can assign while its standby lags, or after a backup that is
/// restored: it is enough for more than four minutes at the highest rate measured, and for days at that of a thousand
/// companies.
const COPY_MARGIN: i64 = 1_000_000;

/// All ports of one database.
#[derive(Clone)]
pub struct Stores {
    /// Consistent loads and atomic commits.
    pub store: Arc<dyn Store>,
    /// Deliveries to be sent.
    pub outbox: Arc<dyn Outbox>,
    /// Mails to be sent.
    pub mails: Arc<dyn MailQueue>,
    /// Reads for answers.
    pub queries: Arc<dyn Queries>,
    /// Events on request.
    pub feed: Arc<dyn EventFeed>,
    /// Their numbers.
    pub numbers: Arc<dyn EventNumbers>,
    /// Keys and rate windows.
    pub access: Arc<dyn Access>,
    /// The records of the platform's staff.
    pub directory: Arc<dyn Directory>,
    /// Recently stored invoice files.
    pub files: Arc<dyn FileLedger>,
    /// Removes old records.
    pub housekeeping: Arc<dyn Housekeeping>,
    /// Readiness, wake-ups and closing.
    pub lifecycle: Arc<dyn Lifecycle>,
    /// Monitoring.
    pub watch: Arc<dyn Watch>,
    /// The identity of the database.
    pub identity: Arc<dyn Identity>,
}

impl std::fmt::Debug for Stores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}

impl From<SqliteStore> for Stores {
    fn from(store: SqliteStore) -> Self {
        Self::of(&Arc::new(store))
    }
}

impl From<PostgresStore> for Stores {
    fn from(store: PostgresStore) -> Self {
        Self::of(&Arc::new(store))
    }
}

impl Stores {
    fn of<S>(store: &Arc<S>) -> Self
    where
        S: Store + Outbox + MailQueue + Database + Access + Directory + FileLedger,
        S: Housekeeping + Lifecycle + Watch + Identity + EventNumbers + 'static,
    {
        Self {
            store: Arc::<S>::clone(store),
            outbox: Arc::<S>::clone(store),
            mails: Arc::<S>::clone(store),
            queries: Arc::new(Reads(Arc::clone(store))),
            feed: Arc::new(Reads(Arc::clone(store))),
            numbers: Arc::<S>::clone(store),
            access: Arc::<S>::clone(store),
            directory: Arc::<S>::clone(store),
            files: Arc::<S>::clone(store),
            housekeeping: Arc::<S>::clone(store),
            lifecycle: Arc::<S>::clone(store),
            watch: Arc::<S>::clone(store),
            identity: Arc::<S>::clone(store),
        }
    }
}

impl DatabaseUrl {
    /// Validates the form and the security of the connection, without connecting.
    pub fn validate(&self) -> Result<(), OpenError> {
        match self.kind()? {
            Kind::Sqlite(path) => sqlite::check_path(path.as_ref()),
            Kind::Postgres => postgres::validate_url(self),
        }
    }
}

/// Opens the database that `url` names: `sqlite://PATH`, relative to the working directory or
/// absolute (`sqlite:///var/lib/preauth/preauth.db`), or `postgres://USER:PASSWORD@HOST/DATABASE`.
///
/// A SQLite database is created when it does not exist and migrated to this build's schema. A
/// PostgreSQL database must have every migration of this build: [`migrate`] applies them.
/// Migrations of newer builds are accepted as long as they support this build.
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
pub async fn open(url: impl Into<DatabaseUrl>) -> Result<Stores, OpenError> {
    let url = url.into();
    match url.kind()? {
        Kind::Sqlite(path) => Ok(SqliteStore::open(path.as_ref()).await?.into()),
        Kind::Postgres => Ok(PostgresStore::open(&url).await?.into()),
    }
}

/// Migrates the schema of the database that `url` names to this build's. Concurrent calls are safe:
/// on PostgreSQL one waits for the other, on SQLite only one can open the file.
pub async fn migrate(url: impl Into<DatabaseUrl>) -> Result<(), OpenError> {
    let url = url.into();
    if url.is_postgres() {
        return PostgresStore::migrate(&url).await;
    }
    // Opening a SQLite database migrates it.
    open(url).await?.lifecycle.close().await;
    Ok(())
}

/// The migrations that the database that `url` names lacks, without changing anything.
pub async fn pending_steps(url: &DatabaseUrl) -> Result<PendingSteps, OpenError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::pending_steps(path.as_ref()).await,
        Kind::Postgres => postgres::pending_steps(url).await,
    }
}

/// Examines the database that `url` names; changes nothing, and creates nothing.
pub async fn check_up(url: &DatabaseUrl) -> Result<Checkup, OpenError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::check_up(path.as_ref()).await,
        Kind::Postgres => postgres::check_up(url).await,
    }
}

/// Opens the content of the database that `url` names for an audit: while servers work on it, and
/// without writing. It must exist and have a schema that this build supports.
pub async fn archive(url: impl Into<DatabaseUrl>) -> Result<Box<dyn Archive>, OpenError> {
    let url = url.into();
    match url.kind()? {
        Kind::Sqlite(path) => Ok(Box::new(SqliteArchive::open(path.as_ref()).await?)),
        Kind::Postgres => Ok(Box::new(PostgresArchive::open(&url).await?)),
    }
}

#[cfg(test)]
mod tests {
    use super::{OpenError, open};

    #[tokio::test]
    async fn a_postgres_url_that_is_none_is_refused_without_its_password() {
        let error = open("postgres://ana:geheim@host:port/preauth").await;
        let error = error.unwrap_err();
        assert!(matches!(error, OpenError::PostgresUrl), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("geheim"), "{error}");
    }

    #[tokio::test]
    async fn a_database_that_does_not_answer_is_named_without_its_password() {
        let error = open("postgres://ana:geheim@127.0.0.1:1/preauth").await;
        let error = error.unwrap_err();
        assert!(matches!(error, OpenError::Unreachable { .. }), "{error:?}");
        assert!(error.to_string().contains("127.0.0.1:1/preauth"), "{error}");
        assert!(!format!("{error} {error:?}").contains("geheim"), "{error}");
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
