//! Reads the whole file while a server uses it. Each page is a short transaction, because the log
//! grows during a long one.
//!
//! The connection only reads, without the lock file, and blocks no other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::{Archive, Page, Pages, Unavailable};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Executor};

use crate::store::archive::Stage;
use crate::store::error::Fault;
use crate::store::sql::archive::page;
use crate::store::{OpenError, PendingSteps};

use super::migrations;
use super::open::database_error;
use super::rows::Columns;

/// Timeout of waiting for a lock, which readers meet only while the log is restarted.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const CACHE_KIB: &str = "-16384";

/// A database file, read without a server.
#[derive(Debug)]
pub(in crate::store) struct SqliteArchive {
    path: PathBuf,
}

impl SqliteArchive {
    /// Fails unless `path` has a database whose schema this build supports.
    pub(in crate::store) async fn open(path: &Path) -> Result<Self, OpenError> {
        super::open::check_path(path)?;
        let mut connection = options(path)
            .connect()
            .await
            .map_err(|cause| database_error(path, cause))?;
        let checked = migrations::check(&mut connection).await;
        checked.map_err(|fault| unreadable(path, fault))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    async fn begin(&self) -> Result<View, Fault> {
        Ok(View {
            connection: options(&self.path).connect().await?,
            stage: Stage::first(),
        })
    }
}

/// What there is to migrate in the file, which must exist.
pub(in crate::store) async fn pending_steps(path: &Path) -> Result<PendingSteps, OpenError> {
    super::open::check_path(path)?;
    let mut connection = options(path)
        .connect()
        .await
        .map_err(|cause| database_error(path, cause))?;
    migrations::pending(&mut connection)
        .await
        .map_err(|fault| unreadable(path, fault))
}

fn unreadable(path: &Path, fault: Fault) -> OpenError {
    match fault {
        Fault::Database(cause) => database_error(path, cause),
        Fault::Schema(mismatch) => OpenError::SchemaMismatch {
            database: path.display().to_string(),
            mismatch,
        },
        fault => OpenError::Database {
            path: path.to_owned(),
            cause: Box::new(fault),
        },
    }
}

/// The options for reading the file while its server uses it.
pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", CACHE_KIB)
}

#[async_trait]
impl Archive for SqliteArchive {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        Ok(Box::new(self.begin().await?))
    }
}

/// A connection, and the stage that it has reached.
#[derive(Debug)]
struct View {
    connection: SqliteConnection,
    stage: Stage,
}

impl View {
    /// The page at the current stage, in one transaction.
    async fn page(&mut self, limit: u32) -> Result<Page, Fault> {
        self.connection.execute("BEGIN").await?;
        let row = sqlx::query("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now")
            .fetch_one(&mut self.connection)
            .await?;
        let host_now = Columns::of("the clock", &row).timestamp("now")?;
        let (records, next) = page(&mut self.connection, &self.stage, limit).await?;
        self.connection.execute("COMMIT").await?;
        self.stage = next;
        Ok(Page { host_now, records })
    }
}

#[async_trait]
impl Pages for View {
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable> {
        let mut read = self.page(limit).await?;
        while read.records.is_empty() && self.stage != Stage::End {
            read = self.page(limit).await?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use sqlx::{ConnectOptions, Connection};
    use tempfile::TempDir;

    use super::{SqliteArchive, options};
    use crate::store::archive::Stage;
    use crate::store::{DatabaseUrl, migrate};

    const LIMIT: u32 = 20;
    /// Number of instructions of SQLite's virtual machine between two counts.
    const STEP: i32 = 10;

    /// A company with `{count}` operations, each with an event, a mail that was sent or canceled, a
    /// remembered reply and a file. No event is misplaced, and no offer is without a mail.
    const FILL: &str = "INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at)
             VALUES (x'00000000000000000000000000000001', '11222333000181', 'Nome', 'CONSTRUCTION',
                     x'00000000000000000000000000000001', 1);
         CREATE TEMPORARY TABLE many AS
             WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {count})
             SELECT n, unhex(printf('%032x', n)) AS id FROM n;
         INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
                 origin, status, amount_cents, withheld_tax_cents, due_date, invoice_number,
                 expires_at, created_at)
             SELECT m.n, c.id, c.id, c.id, c.cnpj, 1, 'PRE_AUTH', 'IN_PRE_AUTH', 100000, 0,
                    '2027-01-20', 'NF-' || m.n, 9000000000000, 1
             FROM many m, companies c;
         INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, body)
             SELECT m.id, c.id, m.n, 1, 'pre_authorization.created', 1, 'COMPANY', '{}'
             FROM many m, companies c;
         INSERT INTO event_feed (head_office_id, event_id, type, payer_id, supplier_id, at)
             SELECT c.id, m.id, 'pre_authorization.created', c.id, c.id, 1
             FROM many m, companies c;
         INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content, staged_at,
                 status, ended_at)
             SELECT m.id, c.id, m.n, 'OFFER', 'fin@example.com', '{}', 1,
                    CASE WHEN m.n % 2 = 0 THEN 'SENT' ELSE 'CANCELED' END, m.n
             FROM many m, companies c;
         INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id, body,
                 expires_at)
             SELECT c.id, 'key-of-' || m.n, zeroblob(32), m.n, '', 1 FROM many m, companies c;
         INSERT INTO invoice_files (operation_id, name, media_type, size_bytes, sha256)
             SELECT n, 'nota.pdf', 'application/pdf', 1, zeroblob(32) FROM many;
         DROP TABLE many";

    /// The maximum number of instructions of a page, by the stage at which it begins, in a database with
    /// this number of operations.
    async fn costs(operations: u32) -> Vec<(&'static str, u64)> {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("preauth.db");
        let url = DatabaseUrl::from(format!("sqlite://{}", path.display()));
        migrate(&url).await.unwrap();
        let mut sql = options(&path).read_only(false).connect().await.unwrap();
        let fill = FILL.replace("{count}", &operations.to_string());
        let filled = sqlx::raw_sql(sqlx::AssertSqlSafe(fill));
        filled.execute(&mut sql).await.unwrap();
        sql.close().await.unwrap();

        let archive = SqliteArchive::open(&path).await.unwrap();
        let mut view = archive.begin().await.unwrap();
        let taken = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&taken);
        let mut handle = view.connection.lock_handle().await.unwrap();
        handle.set_progress_handler(STEP, move || {
            count.fetch_add(1, Ordering::Relaxed);
            true
        });
        drop(handle);
        let mut costs: Vec<(&'static str, u64)> = Vec::new();
        while view.stage != Stage::End {
            let stage = name(&view.stage);
            view.page(LIMIT).await.unwrap();
            let cost = taken.swap(0, Ordering::Relaxed);
            match costs.last_mut() {
                Some((last, most)) if *last == stage => *most = cost.max(*most),
                _ => costs.push((stage, cost)),
            }
        }
        costs
    }

    fn name(stage: &Stage) -> &'static str {
        match stage {
            Stage::Operations(_) => "operations",
            Stage::Orders(_) => "orders",
            Stage::Events(_) => "events",
            Stage::Deliveries(_) => "deliveries",
            Stage::NextList(_) => "head offices with lists",
            Stage::List(..) => "lists",
            Stage::Numbers(_) => "numbers",
            Stage::Replies(..) => "replies",
            Stage::Holders(..) => "holders",
            Stage::Mails(_) => "mails",
            Stage::Sent(..) => "sent",
            Stage::OffersWithoutMail(_) => "offers without a mail",
            Stage::Counts(_) => "counts",
            Stage::FileBytes(_) => "head offices with files",
            Stage::FilesOf(_) => "files",
            Stage::Seals(..) => "seals",
            Stage::End => "end",
        }
    }

    #[tokio::test]
    async fn a_page_takes_no_longer_however_much_there_is() {
        let few = costs(3 * LIMIT).await;
        let many = costs(100 * LIMIT).await;
        for ((stage, few), (other, many)) in few.into_iter().zip(many) {
            assert_eq!(stage, other);
            // All operations of a head office are counted at one moment.
            if stage != "counts" {
                let bound = few.saturating_mul(2);
                assert!(many <= bound, "{stage}: {many}, {few} in a small database");
            }
        }
    }
}
