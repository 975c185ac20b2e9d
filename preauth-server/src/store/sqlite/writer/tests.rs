//! The writing task on a table of its own: groups, neighbours, and commits that fail.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::poll;
use preauth_core::value::CompanyId;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool};
use sqlx::{ConnectOptions, Row};
use tempfile::TempDir;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::fair::{Tenant, charged_to};
use crate::store::error::WriteError;

use super::task::GROUP_LIMIT;
use super::{QUEUE_LIMIT, Writer};

/// A writer over `entries (id, parent)`, where a missing parent is detected only at COMMIT, and a
/// second connection to the same file.
struct Bench {
    writer: Arc<Writer>,
    sql: SqlitePool,
    waiting: Arc<Notify>,
    folder: TempDir,
}

impl Bench {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("bench.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal);
        let mut connection = options.connect().await.unwrap();
        sqlx::raw_sql(
            "CREATE TABLE entries (
                 id     INTEGER PRIMARY KEY,
                 parent INTEGER REFERENCES entries (id) DEFERRABLE INITIALLY DEFERRED,
                 filler TEXT)",
        )
        .execute(&mut connection)
        .await
        .unwrap();
        let waiting = Arc::new(Notify::new());
        let lock = tempfile::tempfile().unwrap();
        let sql = SqlitePool::connect_with(options.clone()).await.unwrap();
        let writer = Writer::spawn(options, connection, lock, Arc::clone(&waiting)).unwrap();
        Self {
            writer: Arc::new(writer),
            sql,
            waiting,
            folder,
        }
    }

    async fn insert(&self, id: i64) -> Result<(), WriteError> {
        self.writer
            .write(id, |connection, id| Box::pin(insert(connection, *id)))
            .await
    }

    /// Inserts as many as one transaction takes, all queued behind a first one.
    async fn insert_together(&self, ids: impl Iterator<Item = i64>) -> Vec<Result<(), WriteError>> {
        futures_util::future::join_all(ids.map(|id| self.insert(id))).await
    }

    /// Does `work`, whose first writes are queued while the writer is busy with another one.
    async fn while_busy<F: Future>(&self, work: F) -> F::Output {
        let (begun, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let input = (Arc::clone(&begun), Arc::clone(&goes_on));
        let busy = self.writer.write(input, |_, (begun, goes_on)| {
            Box::pin(async move {
                begun.notify_one();
                goes_on.notified().await;
                Ok(())
            })
        });
        let work = async {
            begun.notified().await;
            let mut work = pin!(work);
            let queued = poll!(&mut work);
            goes_on.notify_one();
            match queued {
                Poll::Ready(done) => done,
                Poll::Pending => work.await,
            }
        };
        let (busy, done) = futures_util::future::join(busy, work).await;
        busy.unwrap();
        done
    }

    async fn stored(&self) -> Vec<i64> {
        let rows = sqlx::query("SELECT id FROM entries ORDER BY id")
            .fetch_all(&self.sql)
            .await
            .unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}

/// Special ids with injected failures.
const WITHOUT_PARENT: i64 = -1;
const TOO_LONG_FOR_THE_DISK: i64 = -2;
const BROKEN_STATEMENT: i64 = -3;
const PANIC: i64 = -4;

async fn insert(connection: &mut SqliteConnection, id: i64) -> Result<(), WriteError> {
    match id {
        WITHOUT_PARENT => {
            sqlx::query("INSERT INTO entries (id, parent) VALUES (?1, 4711)")
                .bind(id)
                .execute(connection)
                .await?;
        }
        TOO_LONG_FOR_THE_DISK => {
            sqlx::query("PRAGMA max_page_count = 1")
                .execute(&mut *connection)
                .await?;
            sqlx::query("INSERT INTO entries (id, filler) VALUES (?1, hex(zeroblob(1000000)))")
                .bind(id)
                .execute(connection)
                .await?;
        }
        BROKEN_STATEMENT => {
            sqlx::query("INSERT INTO entries (id) VALUES (-33)")
                .execute(&mut *connection)
                .await?;
            sqlx::query("INSERT INTO nowhere (id) VALUES (?1)")
                .bind(id)
                .execute(connection)
                .await?;
        }
        PANIC => {
            sqlx::query("INSERT INTO entries (id) VALUES (-44)")
                .execute(connection)
                .await?;
            panic!("a job must not, but one might");
        }
        _ => {
            sqlx::query("INSERT INTO entries (id) VALUES (?1)")
                .bind(id)
                .execute(connection)
                .await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn all_waiting_writes_are_written() {
    let bench = Bench::new().await;
    let outcomes = bench.insert_together(1..=300).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(bench.stored().await, (1..=300).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_conflict_undoes_its_own_job_and_no_other() {
    let bench = Bench::new().await;
    let outcomes = bench.insert_together([1, 2, 1, 3, 2, 4].into_iter()).await;
    let conflicts = |it: &Result<(), _>| matches!(it, Err(WriteError::Conflict));
    let conflicting: Vec<bool> = outcomes.iter().map(conflicts).collect();
    assert_eq!(conflicting, [false, false, true, false, true, false]);
    assert_eq!(bench.stored().await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_job_that_fails_takes_no_neighbour_along() {
    let bench = Bench::new().await;
    let outcomes = bench
        .insert_together([1, BROKEN_STATEMENT, 2].into_iter())
        .await;
    assert!(outcomes[0].is_ok() && outcomes[2].is_ok());
    assert!(matches!(outcomes[1], Err(WriteError::NotDone(_))));
    assert_eq!(bench.stored().await, [1, 2]);
}

#[tokio::test]
async fn a_commit_that_is_refused_writes_nothing_and_the_next_one_works() {
    let bench = Bench::new().await;
    let outcome = bench.insert(WITHOUT_PARENT).await;
    assert!(matches!(outcome, Err(WriteError::NotDone(_))));
    assert!(bench.stored().await.is_empty());
    bench.insert(1).await.unwrap();
    assert_eq!(bench.stored().await, [1]);
}

#[tokio::test]
async fn a_full_disk_writes_nothing_and_the_writer_recovers() {
    let bench = Bench::new().await;
    let outcomes = bench
        .insert_together([1, TOO_LONG_FOR_THE_DISK, 2].into_iter())
        .await;
    assert!(matches!(outcomes[1], Err(WriteError::NotDone(_))));
    bench.insert(3).await.unwrap();
    let stored = bench.stored().await;
    for (id, outcome) in [1, TOO_LONG_FOR_THE_DISK, 2].into_iter().zip(&outcomes) {
        assert_eq!(stored.contains(&id), outcome.is_ok(), "{id}: {outcome:?}");
    }
    assert!(stored.contains(&3));
}

/// The value of `PRAGMA synchronous`.
const NORMAL: i64 = 1;
const FULL: i64 = 2;

#[tokio::test]
async fn only_a_group_without_durable_jobs_is_relaxed() {
    let bench = Bench::new().await;
    let synchronous = |relaxed: bool| {
        let writer = Arc::clone(&bench.writer);
        async move {
            let outcome = if relaxed {
                writer
                    .write_relaxed((), |connection, ()| Box::pin(synchronous(connection)))
                    .await
            } else {
                writer
                    .write((), |connection, ()| Box::pin(synchronous(connection)))
                    .await
            };
            outcome.unwrap()
        }
    };
    assert_eq!(synchronous(false).await, FULL);
    assert_eq!(synchronous(true).await, NORMAL);
    assert_eq!(synchronous(false).await, FULL);
    for _ in 0..1_000 {
        let both = futures_util::future::join(synchronous(true), synchronous(false)).await;
        if both == (FULL, FULL) {
            return;
        }
        // The writer had begun before the second one was there.
        assert_eq!(both, (NORMAL, FULL));
    }
    panic!("never in one group");
}

async fn synchronous(connection: &mut SqliteConnection) -> Result<i64, WriteError> {
    let row = sqlx::query("PRAGMA synchronous")
        .fetch_one(connection)
        .await?;
    Ok(row.try_get(0)?)
}

#[tokio::test]
async fn the_services_own_job_is_done_without_its_caller() {
    let bench = Bench::new().await;
    let mut given_up = Box::pin(bench.insert(1));
    // One poll queues the job; then the caller goes away.
    assert!(poll!(&mut given_up).is_pending());
    drop(given_up);
    bench.insert(2).await.unwrap();
    assert_eq!(bench.stored().await, [1, 2]);
}

#[tokio::test]
async fn writes_beyond_the_queue_are_refused_at_once() {
    let bench = Bench::new().await;
    let limit = i64::try_from(QUEUE_LIMIT).unwrap();
    let together = bench.insert_together(1..=limit + 5);
    let outcomes = bench.while_busy(together).await;
    let refused = outcomes
        .iter()
        .filter(|it| matches!(it, Err(WriteError::Busy(_))))
        .count();
    assert_eq!(refused, 5);
    assert_eq!(bench.stored().await.len(), QUEUE_LIMIT);
}

#[tokio::test]
async fn a_tenant_that_fills_the_queue_is_refused_its_newest_and_another_is_not() {
    let bench = Bench::new().await;
    let limit = i64::try_from(QUEUE_LIMIT).unwrap();
    let of = |number, ids| charged_to(head_office(number), bench.insert_together(ids));
    let both = futures_util::future::join(of(1, 1..=limit + 5), of(2, 5000..=5001));
    let (flood, quiet) = bench.while_busy(both).await;
    assert!(quiet.iter().all(Result::is_ok));
    let refused: Vec<bool> = flood
        .iter()
        .map(|it| matches!(it, Err(WriteError::Busy(_))))
        .collect();
    // Five found no room, and two made room for the others.
    assert_eq!(refused.iter().filter(|it| **it).count(), 7);
    assert!(refused.iter().rev().take(7).all(|it| *it));
}

#[tokio::test]
async fn a_quiet_tenants_write_is_in_the_next_group() {
    let bench = Bench::new().await;
    let flood = charged_to(head_office(1), bench.insert_together(1..=1000));
    let quiet = async {
        let written = charged_to(head_office(2), bench.insert(5000)).await;
        (written, bench.stored().await.len())
    };
    let both = futures_util::future::join(flood, quiet);
    let (flood, (written, stored)) = bench.while_busy(both).await;
    assert!(flood.iter().all(Result::is_ok));
    written.unwrap();
    // At most two groups are written by then: the write did not wait for all of the thousand before it.
    assert!(stored <= 2 * GROUP_LIMIT, "{stored}");
}

#[tokio::test]
async fn a_write_that_nobody_waits_for_any_more_is_not_begun() {
    let bench = Bench::new().await;
    let work = charged_to(head_office(1), async {
        let mut given_up = Box::pin(bench.insert(1));
        assert!(poll!(&mut given_up).is_pending());
        drop(given_up);
        bench.insert(2).await.unwrap();
    });
    bench.while_busy(work).await;
    assert_eq!(bench.stored().await, [2]);
}

fn head_office(number: u128) -> Tenant {
    Tenant::HeadOffice(CompanyId::new(Uuid::from_u128(number)))
}

#[tokio::test]
async fn closing_writes_what_was_accepted_and_refuses_the_rest() {
    let bench = Bench::new().await;
    let (accepted, ()) =
        futures_util::future::join(bench.insert_together(1..=50), bench.writer.close()).await;
    assert!(accepted.iter().all(Result::is_ok));
    assert_eq!(bench.stored().await.len(), 50);
    let late = bench.insert(51).await;
    assert!(matches!(late, Err(WriteError::NotDone(_))));
    bench.writer.close().await;
    let log = bench.folder.path().join("bench.db-wal");
    assert_eq!(std::fs::metadata(log).map_or(0, |log| log.len()), 0);
}

#[tokio::test]
async fn a_write_that_wakes_leaves_a_wake_up_behind() {
    let bench = Bench::new().await;
    let write = || {
        let waiting = bench.writer.waiting();
        bench.writer.write_then(
            1,
            |connection, id| Box::pin(insert(connection, *id)),
            Box::new(move |()| waiting.notify_one()),
        )
    };
    write().await.unwrap();
    bench.waiting.notified().await;
    assert!(write().await.is_err());
    let mut none = Box::pin(bench.waiting.notified());
    assert!(poll!(&mut none).is_pending());
}

#[tokio::test]
async fn a_job_that_panics_writes_nothing_takes_no_neighbour_along_and_the_writer_lives_on() {
    let bench = Bench::new().await;
    let outcomes = bench.insert_together([1, PANIC, 2].into_iter()).await;
    assert!(outcomes[0].is_ok() && outcomes[2].is_ok());
    assert!(matches!(outcomes[1], Err(WriteError::NotDone(_))));
    let alone = bench.insert(PANIC).await;
    assert!(matches!(alone, Err(WriteError::NotDone(_))));
    bench.insert(3).await.unwrap();
    assert_eq!(bench.stored().await, [1, 2, 3]);
    assert_eq!(bench.writer.health().failures(), 2);
}
