//! A snapshot of the database is held open, as a dump does, while ERPs offer and webhooks are sent.

use std::ops::{Add, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use sqlx::{Executor, PgPool, Postgres, Transaction};
use test_support::Database;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::chance::rounds;
use crate::scene::{Scene, eventually};

/// ERPs that offer without a pause.
const WORKERS: usize = 16;
/// How long one database is loaded before it is the other's turn.
const TURN: Duration = Duration::from_secs(1);
/// Turns of each database: the snapshot is held for a minute.
const TURNS: u32 = 30;
/// Of this many offers one goes to a mailbox that has mails left today. The others go to a mailbox
/// that has had its share, and are postponed.
const FRESH_ONE_IN: u32 = 4;
/// Offers to each mailbox of its own; below the daily share.
const OFFERS_TO_FRESH: u32 = 4;
/// Maximum number of those mailboxes; below the daily limit of a head office.
const MAX_FRESH: u32 = 9_500;
/// Maximum pages read per offer, delivery and mail while a snapshot is held, as a multiple of those
/// without one.
const MAX_PAGES_FACTOR: u64 = 3;
/// The same for the pages of rate windows per request.
const MAX_WINDOW_PAGES_FACTOR: u64 = 4;
/// Turns of each database in the test of rate windows.
const WINDOW_TURNS: u32 = 6;
/// Offers and webhooks while a snapshot is held, in percent of those without one; checked in long
/// runs only, because times on a busy machine vary.
const MIN_RATE_PERCENT: u64 = 80;

/// Pages of tables and indexes read by statements: of offers, of deliveries and of mails. A page that
/// is read twice counts twice.
const PAGES: &str = "SELECT
         coalesce(sum(pages) FILTER (WHERE NOT is_delivery AND NOT is_mail), 0)::BIGINT,
         coalesce(sum(pages) FILTER (WHERE is_delivery), 0)::BIGINT,
         coalesce(sum(pages) FILTER (WHERE is_mail), 0)::BIGINT
     FROM (SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit AS pages,
                  relname IN ('deliveries', 'attempts') AS is_delivery,
                  relname LIKE 'notice%' AS is_mail
           FROM pg_statio_user_tables) AS tables";

/// A service whose database is worked on now and then.
struct Worked {
    scene: Scene,
    sql: PgPool,
    turns: Vec<Turn>,
    /// Offers so far; determines the next mailbox.
    offers: Arc<AtomicU32>,
    /// Mails that must be sent by now.
    expected_mails: u64,
}

/// The work of a turn, and the pages the database read for it.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    offers: u64,
    arrivals: u64,
    mails: u64,
    pages: Pages,
}

#[derive(Clone, Copy, Debug, Default)]
struct Pages {
    offers: u64,
    deliveries: u64,
    mails: u64,
}

impl Worked {
    async fn begin() -> Self {
        let database = Database::empty().await;
        let scene = Scene::on(&database.url()).await;
        database.without_autovacuum().await;
        Self {
            scene,
            sql: database.sql().await,
            turns: Vec::new(),
            offers: Arc::default(),
            expected_mails: 0,
        }
    }

    /// Creates offers for a while, then waits until all events have arrived.
    async fn turn(&mut self) {
        let before = self.pages().await;
        let arrived = self.scene.receiver.arrivals();
        let offered = self.scene.ledger.acknowledged();
        let mails = self.mails();
        let is_over = Arc::new(AtomicBool::new(false));
        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            let (erp, is_over) = (self.scene.direct_erp(), Arc::clone(&is_over));
            let offers = Arc::clone(&self.offers);
            workers.spawn(async move {
                let mut fresh = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let (is_fresh, mailbox) = mailbox(offers.fetch_add(1, Ordering::Relaxed));
                    let is_created = erp.offer_once_to(&mailbox).await;
                    fresh += u64::from(is_created && is_fresh);
                }
                fresh
            });
        }
        sleep(TURN).await;
        let arrivals = self.scene.receiver.arrivals() - arrived;
        is_over.store(true, Ordering::Relaxed);
        self.expected_mails += workers.join_all().await.into_iter().sum::<u64>();
        let offers = self.scene.ledger.acknowledged() - offered;
        eventually("everything has arrived", || {
            self.scene.receiver.arrivals() >= arrived + offers
        })
        .await;
        eventually("all mails are sent", || self.mails() >= self.expected_mails).await;
        self.turns.push(Turn {
            offers: u64::try_from(offers).unwrap(),
            arrivals: u64::try_from(arrivals).unwrap(),
            mails: self.mails() - mails,
            pages: self.pages().await - before,
        });
    }

    /// Mails that were sent so far, as files.
    fn mails(&self) -> u64 {
        let folder = self.scene.first().data().join("mails");
        let files = std::fs::read_dir(folder).map_or(0, Iterator::count);
        u64::try_from(files).unwrap()
    }

    /// Asks with one key for a while; how often, and the pages of its window that were read.
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

    async fn pages(&self) -> Pages {
        let pages: (i64, i64, i64) = sqlx::query_as(PAGES).fetch_one(&self.sql).await.unwrap();
        Pages {
            offers: pages.0.unsigned_abs(),
            deliveries: pages.1.unsigned_abs(),
            mails: pages.2.unsigned_abs(),
        }
    }

    /// The sum of the last half of the turns.
    fn last_half(&self) -> Turn {
        let half = &self.turns[self.turns.len() / 2..];
        half.iter().fold(Turn::default(), |sum, turn| Turn {
            offers: sum.offers + turn.offers,
            arrivals: sum.arrivals + turn.arrivals,
            mails: sum.mails + turn.mails,
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

/// The address of the n-th offer, and whether it has a mail left today.
fn mailbox(n: u32) -> (bool, String) {
    let fresh = n / FRESH_ONE_IN / OFFERS_TO_FRESH;
    if n.is_multiple_of(FRESH_ONE_IN) && fresh < MAX_FRESH {
        (true, format!("financeiro{fresh}@fornecedor.example.com"))
    } else {
        (false, "financeiro@fornecedor.example.com".to_owned())
    }
}

impl Turn {
    /// The bounded figures: the name, and the pages for each offer, delivery, and staged mail.
    fn pages_of_each(self) -> [(&'static str, u64); 3] {
        let pages = self.pages;
        [
            ("an offer", pages.offers / self.offers),
            ("a delivery", pages.deliveries / self.offers),
            ("a mail", pages.mails / self.offers),
        ]
    }
}

impl Add for Pages {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            offers: self.offers + other.offers,
            deliveries: self.deliveries + other.deliveries,
            mails: self.mails + other.mails,
        }
    }
}

impl Sub for Pages {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            offers: self.offers - before.offers,
            deliveries: self.deliveries - before.deliveries,
            mails: self.mails - before.mails,
        }
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
    for turn in 0..turns {
        held.turn().await;
        free.turn().await;
        if turn == 0 {
            // Statistics of small tables, for which other plans look cheaper.
            held.sql.execute("ANALYZE").await.unwrap();
            free.sql.execute("ANALYZE").await.unwrap();
        }
    }
    let (with, without) = (held.last_half(), free.last_half());
    println!("{turns} seconds of load behind a snapshot: {with:?}, {without:?} without one");
    for ((of, pages), (_, usual)) in with
        .pages_of_each()
        .into_iter()
        .zip(without.pages_of_each())
    {
        println!("{pages} pages for {of}, {usual} without a snapshot");
    }
    for ((of, pages), (_, usual)) in with
        .pages_of_each()
        .into_iter()
        .zip(without.pages_of_each())
    {
        assert!(
            pages <= usual * MAX_PAGES_FACTOR,
            "{pages} pages are read for {of}, {usual} without a snapshot"
        );
    }
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
    println!("held: {}", held.scene.check_consistency().await);
    println!("free: {}", free.scene.check_consistency().await);
}

/// Each request counts in the window of its key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_snapshot_does_not_slow_one_keys_requests() {
    let held = Worked::begin().await;
    let free = Worked::begin().await;
    let snapshot = held.hold().await;
    let turns = rounds(WINDOW_TURNS);
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
        pages <= usual.max(1) * MAX_WINDOW_PAGES_FACTOR,
        "{pages} pages of windows are read for a request, {usual} without a snapshot"
    );
    if turns > WINDOW_TURNS {
        let percent = with * 100 / without;
        assert!(percent >= MIN_RATE_PERCENT, "{percent} % of the requests");
    }
    drop(snapshot);
}
