//! POST /pre-authorizations/batch: many creates, each as if it were sent alone.

mod database_busy;
mod effects;
mod malformed;
mod names;
mod one_by_one;

use preauth_client::wire::MAX_BATCH_ITEMS;
use preauth_client::wire::path::{BATCH, PRE_AUTHORIZATIONS};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use test_support::{Backend, RawCaller, Sandbox, offer_body, on_each_database, with};
use tokio::task::JoinSet;

use database_busy::items_that_cannot_be_written_are_refused_and_made_later;
use malformed::{
    a_batch_that_is_malformed_as_a_whole_does_nothing,
    an_item_that_is_malformed_is_no_obstacle_to_the_others,
};
use one_by_one::a_batch_answers_as_its_creates_would_one_by_one;

on_each_database! {
    a_batch_answers_as_its_creates_would_one_by_one,
    a_batch_that_is_malformed_as_a_whole_does_nothing,
    an_item_that_is_malformed_is_no_obstacle_to_the_others,
    a_batch_sent_again_repeats_what_was_created_and_makes_the_rest,
    batches_at_the_same_moment_make_each_operation_once,
    a_batch_shares_its_commits,
    a_batch_is_one_request_of_the_window,
    scope_and_kind_of_company_refuse_the_whole,
    items_that_cannot_be_written_are_refused_and_made_later,
}

fn item(sandbox: &Sandbox, number: usize) -> Value {
    json!({
        "idempotencyKey": format!("pedido-{number:04}"),
        "preAuthorization": offer_body(sandbox, &format!("NF-{number}")),
    })
}

async fn operations(caller: &RawCaller) -> u64 {
    let listed = caller.get(&format!("{PRE_AUTHORIZATIONS}?limit=1")).await;
    listed.json()["pagination"]["total"].as_u64().unwrap()
}

async fn a_batch_sent_again_repeats_what_was_created_and_makes_the_rest(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let all: Vec<_> = (0..MAX_BATCH_ITEMS).map(|it| item(&sandbox, it)).collect();
    let half = json!({"items": all[..MAX_BATCH_ITEMS / 2]});
    let first = caller.post_json(BATCH, &half).await.json();
    let second = caller.post_json(BATCH, &json!({"items": all})).await;
    let results = second.json()["results"].as_array().unwrap().clone();
    for (index, result) in results.iter().enumerate() {
        assert_eq!(result["status"], 201);
        let is_replayed = index < MAX_BATCH_ITEMS / 2;
        assert_eq!(result["replayed"] == true, is_replayed, "{index}");
        if is_replayed {
            let before = &first["results"][index]["preAuthorization"];
            assert_eq!(&result["preAuthorization"], before);
        }
    }
    assert_eq!(
        operations(&caller).await,
        u64::try_from(MAX_BATCH_ITEMS).unwrap()
    );
    // Byte for byte.
    let id = &results[7]["preAuthorization"]["id"];
    let found = caller.get(&format!("{PRE_AUTHORIZATIONS}/{id}")).await;
    assert!(second.text.contains(&found.text), "{}", found.text);
}

async fn batches_at_the_same_moment_make_each_operation_once(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let all: Vec<_> = (0..50).map(|it| item(&sandbox, it)).collect();
    let body = json!({"items": all});
    let mut tasks = JoinSet::new();
    for _ in 0..6 {
        let (caller, body) = (sandbox.caller("apiKey"), body.clone());
        tasks.spawn(async move { caller.post_json(BATCH, &body).await });
    }
    let mut made = 0;
    while let Some(answer) = tasks.join_next().await {
        for result in answer.unwrap().json()["results"].as_array().unwrap() {
            match result["status"].as_u64().unwrap() {
                201 => made += u64::from(result["replayed"] != true),
                _ => assert_eq!(result["errors"][0]["code"], "IDEMPOTENCY_IN_PROGRESS"),
            }
        }
    }
    assert_eq!(made, 50);
    let caller = sandbox.caller("apiKey");
    let again = caller.post_json(BATCH, &body).await.json();
    let results = again["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["replayed"] == true));
    assert_eq!(operations(&caller).await, 50);
}

/// Maximum number of commits of a whole batch. It takes 3 to 5; on SQLite deliveries that have begun add some.
const MAX_COMMITS: usize = 12;

/// Many creates wait for few syncs.
async fn a_batch_shares_its_commits(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let all: Vec<_> = (0..MAX_BATCH_ITEMS).map(|it| item(&sandbox, it)).collect();
    let before = commits(&sandbox).await;
    let answer = caller.post_json(BATCH, &json!({"items": all})).await;
    let made = commits(&sandbox).await - before;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(operations(&caller).await, 100);
    assert!((1..=MAX_COMMITS).contains(&made), "{made} commits");
}

/// On PostgreSQL the transactions that wrote operations, on SQLite all that are in its log.
async fn commits(sandbox: &Sandbox) -> usize {
    if let Some(url) = sandbox.database_url() {
        let mut sql = PgConnection::connect(&url).await.unwrap();
        let written = "SELECT count(DISTINCT xmin::TEXT) FROM operations";
        let written: i64 = sqlx::query_scalar(written)
            .fetch_one(&mut sql)
            .await
            .unwrap();
        return usize::try_from(written).unwrap();
    }
    let log = std::fs::read(sandbox.data().join("preauth.db-wal")).unwrap();
    let number = |at: &[u8]| u32::from_be_bytes(at.try_into().unwrap());
    let (head, frames) = log.split_at(32);
    let page = usize::try_from(number(&head[8..12])).unwrap();
    let frames = frames.chunks_exact(24 + page);
    // The last frame of a transaction has the size of the database.
    frames.filter(|it| number(&it[4..8]) > 0).count()
}

async fn a_batch_is_one_request_of_the_window(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "3"]).await;
    let caller = sandbox.caller("apiKey");
    let all: Vec<_> = (0..5).map(|it| item(&sandbox, it)).collect();
    let answer = caller.post_json(BATCH, &json!({"items": all})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("x-ratelimit-remaining"),
        "2",
        "{:?}",
        answer.headers
    );
}

async fn scope_and_kind_of_company_refuse_the_whole(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    for code in [
        "INTEGRATION_SCOPE_FORBIDDEN",
        "PRE_AUTH_ONLY_CONSTRUTORA",
        "SERVICE_UNAVAILABLE",
    ] {
        let magic = with(
            item(&sandbox, 1),
            "/preAuthorization/invoice/number",
            json!(format!("sandbox:{code}")),
        );
        let first = json!({"items": [magic, item(&sandbox, 2)]});
        let refused = caller.post_json(BATCH, &first).await;
        assert_eq!(refused.code(), code, "the first item's magic value");
        assert_eq!(operations(&caller).await, 0);
    }
    let supplier = sandbox.caller("branchApiKey");
    let refused = supplier
        .post_json(BATCH, &json!({"items": [item(&sandbox, 1)]}))
        .await;
    assert_eq!(
        refused.refusal(),
        (403, "PRE_AUTH_ONLY_CONSTRUTORA".to_owned())
    );
    let stranger = sandbox.stranger();
    let refused = stranger.post_json(BATCH, &json!({"items": []})).await;
    assert_eq!(refused.status, 401);
}
