//! A snapshot of the database is held open, as a dump does, while ERPs offer and webhooks are sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use sqlx::{Executor, PgPool, Postgres, Transaction};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::chance::rounds;
use crate::database::Database;
use crate::scene::{Scene, eventually};

/// ERPs that offer without a pause.
const WORKERS: usize = 16;
/// How long one database is loaded before it is the other's turn.
const TURN: Duration = Duration::from_secs(1);
/// Turns per database.
const TURNS: u32 = 6;
/// Maximum factor by which the pages read per offer and webhook grow while a snapshot is held.
/// Without countermeasures it is 10 after five seconds and keeps growing.
const MAX_PAGES_FACTOR: u64 = 4;
/// Offers and webhooks while a snapshot is held, in percent of those without one; checked in long
/// runs only, because times on a busy machine vary.
const MIN_RATE_PERCENT: u64 = 80;

/// A service whose database is loaded from time to time.
struct Worked {
    scene: Scene,
    sql: PgPool,
    turns: Vec<Turn>,
}

/// The work of a turn, and the pages the database read for it.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    offers: u64,
    arrivals: u64,
    /// Reads of table and index pages, repetitions included.
    pages: u64,
}

impl Worked {
    async fn begin() -> Self {
        let database = Database::empty().await;
        let scene = Scene::on(&database.url()).await;
        let sql = database.sql().await;
        Self {
            scene,
            sql,
            turns: Vec::new(),
        }
    }

    /// Creates offers for a while, then waits until all events have arrived.
    async fn turn(&mut self) {
        let before = self.pages().await;
        let arrived = self.scene.receiver.arrivals();
        let offered = self.scene.ledger.acknowledged();
        let is_over = Arc::new(AtomicBool::new(false));
        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            let (erp, is_over) = (self.scene.direct_erp(), Arc::clone(&is_over));
            workers.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    erp.offer_once().await;
                }
            });
        }
        sleep(TURN).await;
        let arrivals = self.scene.receiver.arrivals() - arrived;
        is_over.store(true, Ordering::Relaxed);
        workers.join_all().await;
        let offers = self.scene.ledger.acknowledged() - offered;
        eventually("everything has arrived", || {
            self.scene.receiver.arrivals() >= arrived + offers
        })
        .await;
        self.turns.push(Turn {
            offers: u64::try_from(offers).unwrap(),
            arrivals: u64::try_from(arrivals).unwrap(),
            pages: self.pages().await - before,
        });
    }

    /// Sends requests with one key for a while; returns their number, and the pages read in its
    /// window's tables.
    async fn ask(&self) -> (u64, u64) {
        let before = self.window_pages().await;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            let caller = self.scene.first().sandbox().caller("apiKey");
            let is_over = Arc::clone(&is_over);
            workers.spawn(async move {
                let mut asked = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let answer = caller.get(&format!("{PRE_AUTHORIZATIONS}/1")).await;
                    assert_eq!(answer.status, 404, "{}", answer.text);
                    asked += 1;
                }
                asked
            });
        }
        sleep(TURN).await;
        is_over.store(true, Ordering::Relaxed);
        let asked = workers.join_all().await.into_iter().sum();
        (asked, self.window_pages().await - before)
    }

    async fn window_pages(&self) -> u64 {
        let pages: i64 = sqlx::query_scalar(
            "SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::BIGINT
             FROM pg_statio_user_tables WHERE relname LIKE 'rate_%'",
        )
        .fetch_one(&self.sql)
        .await
        .unwrap();
        pages.unsigned_abs()
    }

    /// The size of the rate windows' tables, and their dead row versions.
    async fn window_tables(&self) -> (i64, i64) {
        sqlx::query_as(
            "SELECT sum(pg_total_relation_size(relid))::BIGINT, sum(n_dead_tup)::BIGINT
             FROM pg_stat_user_tables WHERE relname LIKE 'rate_%'",
        )
        .fetch_one(&self.sql)
        .await
        .unwrap()
    }

    async fn pages(&self) -> u64 {
        let pages: i64 = sqlx::query_scalar(
            "SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::BIGINT
             FROM pg_statio_user_tables",
        )
        .fetch_one(&self.sql)
        .await
        .unwrap();
        pages.unsigned_abs()
    }

    /// The sum of the last half of the turns.
    fn last_half(&self) -> Turn {
        let half = &self.turns[self.turns.len() / 2..];
        half.iter().fold(Turn::default(), |sum, turn| Turn {
            offers: sum.offers + turn.offers,
            arrivals: sum.arrivals + turn.arrivals,
            pages: sum.pages + turn.pages,
        })
    }

    async fn hold(&self) -> Transaction<'static, Postgres> {
        let mut held = self.sql.begin().await.unwrap();
        held.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            .await
            .unwrap();
        held.execute("SELECT count(*) FROM operations")
            .await
            .unwrap();
        held
    }
}

impl Turn {
    fn pages_per_offer(self) -> u64 {
        self.pages / self.offers
    }
}

/// Two services take turns, one of them on a database with a held snapshot, so both run under the
/// same conditions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_snapshot_slows_no_creates_and_webhooks() {
    let mut held = Worked::begin().await;
    let mut free = Worked::begin().await;
    let snapshot = held.hold().await;
    let turns = rounds(TURNS);
    for _ in 0..turns {
        held.turn().await;
        free.turn().await;
    }
    let (with, without) = (held.last_half(), free.last_half());
    println!("{turns} seconds of load behind a snapshot: {with:?}, {without:?} without one");
    let (pages, usual) = (with.pages_per_offer(), without.pages_per_offer());
    assert!(
        pages <= usual * MAX_PAGES_FACTOR,
        "{pages} pages are read for an offer, {usual} without a snapshot"
    );
    if turns > TURNS {
        for (kind, rate, usual) in [
            ("offers", with.offers, without.offers),
            ("webhooks", with.arrivals, without.arrivals),
        ] {
            let percent = rate * 100 / usual;
            assert!(percent >= MIN_RATE_PERCENT, "{percent} % of the {kind}");
        }
    }
    drop(snapshot);
    println!("held: {}", held.scene.verdict().await);
    println!("free: {}", free.scene.verdict().await);
}

/// Each request counts in the window of its key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_snapshot_does_not_slow_one_keys_requests() {
    let held = Worked::begin().await;
    let free = Worked::begin().await;
    let snapshot = held.hold().await;
    let turns = rounds(TURNS);
    let mut sums = [(0, 0); 2];
    for turn in 0..turns {
        let asked = [held.ask().await, free.ask().await];
        // The last half of the turns.
        if turn >= turns / 2 {
            for (sum, (asked, pages)) in sums.iter_mut().zip(asked) {
                *sum = (sum.0 + asked, sum.1 + pages);
            }
        }
    }
    let (size, dead) = held.window_tables().await;
    let [(with, pages), (without, usual)] = sums;
    println!(
        "{turns} seconds of one key behind a snapshot: {with} requests over {pages} pages, \
         {without} over {usual} without one; {dead} dead versions in {size} bytes"
    );
    let (pages, usual) = (pages / with, usual / without);
    assert!(
        pages <= usual.max(1) * MAX_PAGES_FACTOR,
        "{pages} pages of windows are gone over for a request, {usual} without a snapshot"
    );
    if turns > TURNS {
        let percent = with * 100 / without;
        assert!(percent >= MIN_RATE_PERCENT, "{percent} % of the requests");
    }
    drop(snapshot);
}
