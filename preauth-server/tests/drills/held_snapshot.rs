//! Somebody holds a snapshot of the database open, as a dump does, while ERPs offer and webhooks go out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::{Executor, PgPool, Postgres, Transaction};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::chance::rounds;
use crate::database::Database;
use crate::scene::{Scene, eventually};

/// ERPs that offer without a pause.
const WORKERS: usize = 16;
/// How long each of the two databases is worked on before it is the other's turn.
const TURN: Duration = Duration::from_secs(1);
/// Turns of each database.
const TURNS: u32 = 6;
/// So many times as many pages may be read for an offer and its webhook while a snapshot is held. Without
/// care it is tenfold after five seconds, and grows with each.
const MAX_PAGES_FACTOR: u64 = 4;
/// Offers and webhooks while a snapshot is held, in percent of those without one; in a long run only,
/// because seconds on a busy machine are not alike.
const MIN_RATE_PERCENT: u64 = 80;

/// A service whose database is worked on now and then.
struct Worked {
    scene: Scene,
    sql: PgPool,
    turns: Vec<Turn>,
}

/// What was done in a turn, and what the database read for it.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    offers: u64,
    arrivals: u64,
    /// Pages of tables and indexes that statements went over, once for each time.
    pages: u64,
}

impl Worked {
    async fn begin() -> Self {
        let database = Database::fresh().await;
        let scene = Scene::on(&database.url()).await;
        let sql = database.sql().await;
        Self {
            scene,
            sql,
            turns: Vec::new(),
        }
    }

    /// Offers for a while, then waits until all of it has arrived.
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

    /// The last half of the turns together.
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

/// Two services take turns, one of them on a database of which somebody holds a snapshot: so both have the
/// same machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_is_held_open_slows_nobody() {
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
    println!("held: {}", held.scene.judge().await);
    println!("free: {}", free.scene.judge().await);
}
