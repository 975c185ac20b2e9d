//! The server is asked to stop while it has work.

use std::time::Duration;

use sqlx::PgPool;
use test_support::Database;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::proxy::{FailureMode, Proxy};
use crate::scene::{Scene, leases_run_out};

const REQUESTS: i64 = 20;
const DELIVERIES: usize = 5;
/// How long an orchestrator waits before it kills.
const MAX_SHUTDOWN: Duration = Duration::from_secs(30);

async fn requests_counted(sql: &PgPool) -> i64 {
    let count = sqlx::query_scalar("SELECT coalesce(sum(counted), 0)::BIGINT FROM rate_counts");
    count.fetch_one(sql).await.unwrap()
}

async fn leases(sql: &PgPool) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM deliveries WHERE leased_until > 0");
    count.fetch_one(sql).await.unwrap()
}

#[tokio::test]
async fn requests_and_deliveries_under_way_survive_the_end() {
    let database = Database::empty().await;
    let sql = database.sql().await;
    let (url, proxy) = Proxy::before(&database.url()).await;
    let mut scene = Scene::on(&url).await;
    scene.receiver.answer_after(Duration::from_secs(9));
    let erp = scene.erp(0);
    for _ in 0..DELIVERIES {
        erp.offer().await;
    }
    scene.wait_for_arrivals(DELIVERIES).await;
    let (before, erp) = (requests_counted(&sql).await, scene.direct_erp());
    proxy.behave(FailureMode::Delay(Duration::from_millis(60)));
    let mut requests = JoinSet::new();
    for _ in 0..REQUESTS {
        let erp = erp.clone();
        requests.spawn(async move { erp.offer_once().await });
    }
    // Every request has been admitted and must still go through the database.
    while requests_counted(&sql).await < before + REQUESTS {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let base_url = scene.first().sandbox().text("baseUrl").to_owned();
    let address = base_url.trim_start_matches("http://");
    let asked = Instant::now();
    let (ended, home) = scene.instances[0].stop().await;
    let end = asked.elapsed();
    assert!(ended, "it ends with success");
    assert!(end < MAX_SHUTDOWN, "{end:?}");
    while let Some(answered) = requests.join_next().await {
        answered.unwrap();
    }
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens");
    assert_eq!(leases(&sql).await, 0, "every lease was given back");

    proxy.behave(FailureMode::Pass);
    scene.receiver.answer_after(Duration::ZERO);
    scene.instances[0].start_again(home).await;
    let figures = scene.check_consistency().await;
    assert_eq!(figures.unknown + figures.not_done, 0, "{figures}");
    println!(
        "{REQUESTS} requests, {DELIVERIES} deliveries under way: {figures}; ended in {end:.1?}"
    );
}

#[tokio::test]
async fn shutdown_ends_in_time_although_the_database_does_not_answer() {
    let database = Database::empty().await;
    let (url, proxy) = Proxy::before(&database.url()).await;
    let mut scene = Scene::on(&url).await;
    let load = scene.begin_load();
    scene.wait_for_offers(10).await;
    proxy.behave(FailureMode::Stall);
    scene.wait_until_ready(false).await;
    let asked = Instant::now();
    let (_, home) = scene.instances[0].stop().await;
    let end = asked.elapsed();
    assert!(end < MAX_SHUTDOWN, "{end:?}");
    proxy.behave(FailureMode::Pass);
    scene.instances[0].start_again(home).await;
    load.end().await;
    leases_run_out(&database.sql().await).await;
    let figures = scene.check_consistency().await;
    println!("ended in {end:.1?} without an answer of the database; {figures}");
}
