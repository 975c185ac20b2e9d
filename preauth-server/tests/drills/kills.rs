//! The server is killed, as a power cut would do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use test_support::Database;
use tokio::time::{Instant, sleep};

use crate::chance::{pause, rounds};
use crate::feed_reader::FeedReader;
use crate::instance::signal;
use crate::scene::{Scene, eventually, leases_run_out};

/// Offers of a list that is offered in batches.
const BATCHED: usize = 600;
/// Kills that meet no batch under way are followed by further offers, up to so many.
const MAX_BATCHED: usize = 10 * BATCHED;

#[tokio::test]
async fn kills_under_load_lose_and_double_nothing_on_sqlite() {
    let mut scene = Scene::on_file().await;
    let reader = FeedReader::begin(scene.erp(0).client());
    let kills = kills_under_load(&mut scene).await;
    let figures = scene.check_consistency().await;
    let read = reader.read_what_arrived(&scene).await;
    println!("SQLite: {kills}: {figures}, {read} read");
}

// Contract: delivery/recorded-with-the-change
#[tokio::test]
async fn kills_under_load_lose_and_double_nothing_on_postgresql() {
    let database = Database::empty().await;
    let mut scene = Scene::on(&database.url()).await;
    let reader = FeedReader::begin(scene.erp(0).client());
    let kills = kills_under_load(&mut scene).await;
    leases_run_out(&database.sql().await).await;
    let figures = scene.check_consistency().await;
    let read = reader.read_what_arrived(&scene).await;
    println!("PostgreSQL: {kills}: {figures}, {read} read");
}

async fn kills_under_load(scene: &mut Scene) -> String {
    let kills = rounds(5);
    let load = scene.begin_load();
    let mut slowest = Duration::ZERO;
    for _ in 0..kills {
        scene.wait_for_offers(10).await;
        sleep(pause(0, 500)).await;
        let killed = Instant::now();
        scene.instances[0].kill_and_start().await;
        scene.recovery().await;
        slowest = slowest.max(killed.elapsed());
    }
    load.end().await;
    format!("{kills} kills, back within {slowest:.1?}")
}

/// The receiver stops the server before it answers, so that the answer is never read.
async fn kills_before_the_mark(database: &str, mut scene: Scene) {
    let kills = rounds(1);
    for round in 0..usize::try_from(kills).unwrap() {
        let process = scene.first().sandbox().process_id();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_stopped);
        scene.receiver.call(Box::new(move || {
            if !stopped.load(Ordering::Relaxed) {
                signal(process, "STOP");
                stopped.store(true, Ordering::Relaxed);
            }
        }));
        let erp = scene.erp(0);
        let offering = tokio::spawn(async move { erp.offer().await });
        eventually("the server is stopped", || {
            is_stopped.load(Ordering::Relaxed)
        })
        .await;
        scene.instances[0].kill_and_start().await;
        offering.await.unwrap();
        scene.wait_for_arrivals(2 * (round + 1)).await;
    }
    let figures = scene.check_consistency().await;
    let events = scene.receiver.events();
    assert!(events.values().all(|event| event.arrivals.len() >= 2));
    println!("{database}: {kills} kills before the mark; {figures}");
}

#[tokio::test]
async fn a_delivery_received_but_not_recorded_arrives_again_on_sqlite() {
    kills_before_the_mark("SQLite", Scene::on_file().await).await;
}

#[tokio::test]
async fn a_delivery_received_but_not_recorded_arrives_again_on_postgresql() {
    let database = Database::empty().await;
    kills_before_the_mark("PostgreSQL", Scene::on(&database.url()).await).await;
}

/// Batches are offered meanwhile, until a kill came after a part of one was done: what comes back from before it is a replay.
async fn kills_during_batches(scene: &mut Scene) {
    let (mut kills, mut offers, mut replayed) = (0, 0, 0);
    while replayed == 0 {
        assert!(
            offers < MAX_BATCHED,
            "no kill came between commit and answer"
        );
        let erp = scene.erp(0);
        let offering = tokio::spawn(async move { erp.offer_together(BATCHED).await });
        // Longer and longer, so that it gets on.
        let mut longest_ms = 300;
        while !offering.is_finished() {
            sleep(pause(20, longest_ms)).await;
            scene.instances[0].kill_and_start().await;
            kills += 1;
            longest_ms += 300;
        }
        replayed = offering.await.unwrap();
        offers += BATCHED;
    }
    println!("{kills} kills during {offers} offers in batches, {replayed} done before a kill");
}

#[tokio::test]
async fn batches_that_are_cut_off_by_kills_double_nothing_on_sqlite() {
    let mut scene = Scene::on_file().await;
    kills_during_batches(&mut scene).await;
    println!("SQLite: {}", scene.check_consistency().await);
}

#[tokio::test]
async fn batches_that_are_cut_off_by_kills_double_nothing_on_postgresql() {
    let database = Database::empty().await;
    let mut scene = Scene::on(&database.url()).await;
    kills_during_batches(&mut scene).await;
    leases_run_out(&database.sql().await).await;
    println!("PostgreSQL: {}", scene.check_consistency().await);
}
