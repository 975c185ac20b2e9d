//! Another program reads the SQLite file and holds its snapshot open while ERPs offer.

use std::path::PathBuf;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor, SqliteConnection};
use tokio::time::Instant;

use crate::chance::rounds;
use crate::scene::{Scene, WORKERS};

/// Offers in a turn of each database.
const OFFERS: usize = 100;
const TURNS: u32 = 6;
/// Maximum growth of the log per offer: pages of the tables and indexes that its events, deliveries
/// and mails change, several times.
const MAX_LOG_BYTES_PER_OFFER: u64 = 192 << 10;
/// Offers while the reader is open, in percent of those without one; checked in long runs only, because
/// times on a busy machine vary.
const MIN_RATE_PERCENT: u128 = 80;

/// The server, and the time that its offers took so far.
struct Worked {
    scene: Scene,
    micros: u128,
}

impl Worked {
    async fn begin() -> Self {
        let scene = Scene::on_file().await;
        Self { scene, micros: 0 }
    }

    async fn turn(&mut self) {
        let began = Instant::now();
        let load = self.scene.begin_load();
        self.scene.wait_for_offers(OFFERS).await;
        self.micros += began.elapsed().as_micros();
        load.end().await;
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scene.first().data().join(name)
    }

    fn log_bytes(&self) -> u64 {
        self.file("preauth.db-wal").metadata().unwrap().len()
    }

    /// The size of the log as the metrics have it.
    async fn scraped_log_bytes(&self) -> u64 {
        let scraped = self
            .scene
            .first()
            .sandbox()
            .platform()
            .get("/metrics")
            .await;
        let line = scraped
            .text
            .lines()
            .find_map(|line| line.strip_prefix("preauth_write_log_bytes "));
        line.unwrap().parse().unwrap()
    }

    /// Begins to read and does not end.
    async fn hold(&self) -> SqliteConnection {
        let file = SqliteConnectOptions::new().filename(self.file("preauth.db"));
        let mut reader = file.read_only(true).connect().await.unwrap();
        reader.execute("BEGIN").await.unwrap();
        reader
            .execute("SELECT count(*) FROM operations")
            .await
            .unwrap();
        reader
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_holds_its_snapshot_slows_no_creates_and_the_log_is_bounded_afterwards() {
    let (mut held, mut free) = (Worked::begin().await, Worked::begin().await);
    let reader = held.hold().await;
    let before = held.log_bytes();
    let turns = rounds(TURNS);
    for _ in 0..turns {
        held.turn().await;
        free.turn().await;
    }
    let grown = held.log_bytes();
    assert_eq!(held.scraped_log_bytes().await, grown);
    let offers = u64::try_from(held.scene.ledger.acknowledged()).unwrap();
    let of_each = (grown - before) / offers;
    println!("{offers} offers behind a reader: {grown} bytes of log, {of_each} for each");
    assert!(of_each < MAX_LOG_BYTES_PER_OFFER, "{of_each} for an offer");
    let percent = free.micros * 100 / held.micros;
    println!("{percent} % of the rate without a reader");
    if turns > TURNS {
        assert!(percent >= MIN_RATE_PERCENT, "{percent} % of the offers");
    }
    reader.close().await.unwrap();
    // The log is written from its beginning again.
    for _ in 0..turns {
        held.turn().await;
    }
    let after = held.log_bytes();
    let under_way = u64::try_from(WORKERS).unwrap();
    // Offers under way are still appended until a checkpoint meets no reader of the server either.
    assert!(
        after < grown + under_way * MAX_LOG_BYTES_PER_OFFER,
        "it grew from {grown} to {after} bytes"
    );
    println!("held: {}", held.scene.check_consistency().await);
    println!("free: {}", free.scene.check_consistency().await);
}
