//! Pages of an audit, each read in its own transaction.

use preauth_core::port::{Archive, Page, Record};
use preauth_server::store;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Row};
use test_support::{Backend, Scratch};

use crate::world::live_in;

const HOLDERS_OF_ONE: &str = "UPDATE operations SET invoice_number = 'NF-4' WHERE id = 6";

async fn archive(backend: Backend) -> (Scratch, Box<dyn Archive>) {
    let database = Scratch::empty(backend).await;
    live_in(&database).await;
    let archive = store::archive(&database.url()).await.unwrap();
    (database, archive)
}

async fn all(archive: &dyn Archive, limit: u32) -> Vec<Page> {
    let mut pages = archive.pages().await.unwrap();
    let mut read = Vec::new();
    loop {
        let page = pages.next(limit).await.unwrap();
        if page.records.is_empty() {
            return read;
        }
        read.push(page);
    }
}

#[tokio::test]
async fn nothing_is_held_between_two_pages_on_postgres() {
    let (database, archive) = archive(Backend::Postgres).await;
    let mut pages = archive.pages().await.unwrap();
    let mut sql = PgConnection::connect(&database.url()).await.unwrap();
    while !pages.next(2).await.unwrap().records.is_empty() {
        let held: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()
               AND (backend_xmin IS NOT NULL OR xact_start IS NOT NULL)
               AND backend_type = 'client backend'",
        )
        .fetch_one(&mut sql)
        .await
        .unwrap();
        assert_eq!(held, 0);
    }
}

#[tokio::test]
async fn nothing_is_held_between_two_pages_on_sqlite() {
    let (database, archive) = archive(Backend::Sqlite).await;
    let Scratch::Sqlite { file, .. } = &database else {
        panic!("{database:?}");
    };
    let mut pages = archive.pages().await.unwrap();
    let writer = SqliteConnectOptions::new().filename(file);
    let mut sql: SqliteConnection = writer.connect().await.unwrap();
    while !pages.next(2).await.unwrap().records.is_empty() {
        let write = "UPDATE companies SET name = name";
        sqlx::query(write).execute(&mut sql).await.unwrap();
        // The log cannot be truncated while a reader holds a snapshot.
        let emptied = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
        let emptied = emptied.fetch_one(&mut sql).await.unwrap();
        assert_eq!(emptied.get::<i64, _>(0), 0, "busy");
    }
}

async fn small_pages_hold_what_a_large_one_does(backend: Backend) {
    let (_database, archive) = archive(backend).await;
    let records = |pages: Vec<Page>| -> Vec<_> {
        let records = pages.into_iter().flat_map(|page| page.records);
        let mut records: Vec<_> = records.map(Result::unwrap).collect();
        // A holder is repeated at the beginning of the next page.
        records.dedup();
        records
    };
    let large = records(all(&*archive, 500).await);
    assert!(large.iter().any(|it| matches!(it, Record::Holder(_))));
    for limit in [1, 2, 3] {
        assert_eq!(records(all(&*archive, limit).await), large, "{limit}");
    }
}

#[tokio::test]
async fn small_pages_hold_what_a_large_one_does_on_sqlite() {
    small_pages_hold_what_a_large_one_does(Backend::Sqlite).await;
}

#[tokio::test]
async fn small_pages_hold_what_a_large_one_does_on_postgres() {
    small_pages_hold_what_a_large_one_does(Backend::Postgres).await;
}

async fn two_holders_stand_in_one_page_however_small(backend: Backend) {
    let (database, archive) = archive(backend).await;
    let broken = ["DROP INDEX operations_number_in_progress", HOLDERS_OF_ONE];
    database.execute(&broken).await;
    let beside = |page: &Page| {
        let holders = page.records.windows(2);
        let mut pairs = holders.filter_map(|two| match two {
            [Ok(Record::Holder(one)), Ok(Record::Holder(next))] => Some((one, next)),
            _ => None,
        });
        pairs.any(|(one, next)| one.number == next.number)
    };
    assert!(all(&*archive, 2).await.iter().any(beside));
}

#[tokio::test]
async fn two_holders_stand_in_one_page_however_small_on_sqlite() {
    two_holders_stand_in_one_page_however_small(Backend::Sqlite).await;
}

#[tokio::test]
async fn two_holders_stand_in_one_page_however_small_on_postgres() {
    two_holders_stand_in_one_page_however_small(Backend::Postgres).await;
}
