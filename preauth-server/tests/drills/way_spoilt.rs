//! The network between the server and PostgreSQL is cut, stalls or is slow.

use std::time::Duration;

use test_support::Database;
use tokio::task::JoinSet;

use crate::chance::rounds;
use crate::consistency::Figures;
use crate::proxy::{FailureMode, Proxy};
use crate::scene::{Scene, eventually, leases_run_out};

/// A server whose database is behind a proxy.
async fn behind_a_proxy(database: &Database) -> (Scene, Proxy) {
    let (url, proxy) = Proxy::before(&database.url()).await;
    (Scene::on(&url).await, proxy)
}

#[tokio::test]
async fn commits_whose_answer_is_lost_lose_and_double_nothing() {
    let database = Database::empty().await;
    let (scene, proxy) = behind_a_proxy(&database).await;
    let load = scene.begin_load();
    proxy.behave(FailureMode::CutCommits { every: 5 });
    let cuts = rounds(30);
    eventually("connections are cut", || proxy.cuts() >= cuts).await;
    proxy.behave(FailureMode::Pass);
    let recovery = scene.recovery().await;
    load.end().await;
    let figures = scene.check_consistency().await;
    scene.nothing_lingers(&database.sql().await).await;
    let cuts = proxy.cuts();
    println!("{cuts} commits cut: {figures}; back within {recovery:.1?}");
}

#[tokio::test]
async fn a_stall_in_both_directions_ends_by_itself() {
    stall(FailureMode::Stall).await;
}

#[tokio::test]
async fn a_stall_of_answers_alone_ends_by_itself() {
    stall(FailureMode::HoldAnswers).await;
}

async fn stall(failure_mode: FailureMode) {
    let database = Database::empty().await;
    let (scene, proxy) = behind_a_proxy(&database).await;
    let load = scene.begin_load();
    scene.wait_for_offers(20).await;
    proxy.behave(failure_mode);
    scene.wait_until_ready(false).await;
    // Bounded, although the database does not answer: each of these waits for its definite answer.
    let (erp, mut asked) = (scene.erp(0), JoinSet::new());
    for _ in 0..4 {
        let erp = erp.clone();
        asked.spawn(async move { erp.offer_once().await });
    }
    while let Some(answered) = asked.join_next().await {
        answered.unwrap();
    }
    proxy.behave(FailureMode::Pass);
    let recovery = scene.recovery().await;
    scene.wait_until_ready(true).await;
    load.end().await;
    let sql = database.sql().await;
    leases_run_out(&sql).await;
    let figures = scene.check_consistency().await;
    scene.nothing_lingers(&sql).await;
    println!("{failure_mode:?}: {figures}; back within {recovery:.1?}");
}

#[tokio::test]
async fn a_slow_way_loses_and_doubles_nothing() {
    let database = Database::empty().await;
    let (scene, proxy) = behind_a_proxy(&database).await;
    proxy.behave(FailureMode::Delay(Duration::from_millis(50)));
    let load = scene.begin_load();
    scene.wait_for_offers(40).await;
    load.end().await;
    proxy.behave(FailureMode::Pass);
    let figures = scene.check_consistency().await;
    println!("50 ms more each way: {figures}");
}

#[tokio::test]
async fn more_requests_than_connections_share_them() {
    let figures = requests_at_once(Duration::from_millis(150)).await;
    assert_eq!((figures.not_done, figures.unknown), (0, 0), "{figures}");
}

// Contract: error-code-of-ours/SERVICE_UNAVAILABLE
#[tokio::test]
async fn requests_over_a_way_that_is_too_slow_are_refused_in_time_and_served_afterwards() {
    // A round trip takes longer than the statement timeout.
    let figures = requests_at_once(Duration::from_secs(7)).await;
    assert!(figures.not_done > 0, "{figures}");
}

/// Far more requests than connections, over a network with this delay in each direction.
async fn requests_at_once(delay: Duration) -> Figures {
    let database = Database::empty().await;
    let (scene, proxy) = behind_a_proxy(&database).await;
    proxy.behave(FailureMode::Delay(delay));
    let (erp, mut requests) = (scene.erp(0), JoinSet::new());
    for _ in 0..200 {
        let erp = erp.clone();
        // Only 201, and 503 or 500 in the error format, are accepted.
        requests.spawn(async move { erp.offer_once().await });
    }
    while let Some(answered) = requests.join_next().await {
        answered.unwrap();
    }
    proxy.behave(FailureMode::Pass);
    let recovery = scene.recovery().await;
    let figures = scene.check_consistency().await;
    scene.nothing_lingers(&database.sql().await).await;
    println!("200 requests, {delay:?} each way: {figures}; back within {recovery:.1?}");
    figures
}
