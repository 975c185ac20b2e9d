//! More requests arrive than queues have places, or than are answered in time, while the database is blocked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use preauth_client::wire::path::{EVENTS, PRE_AUTHORIZATIONS};
use serde_json::Value;
use sqlx::{Connection, Executor, PgPool, SqliteConnection};
use test_support::{Answer, Database, RawCaller, offer_body};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::scene::{Scene, eventually};

/// More than the places of a queue and one batch.
const CALLERS: usize = 1_500;
/// Less than one head office may have in progress.
const CREATORS: usize = 200;

/// Readers of events: more than read at the same moment.
const READERS: usize = 50;
/// A request waits in each queue a few seconds at most, and then a statement has a timeout.
const MAX_ANSWERING: Duration = Duration::from_secs(45);

/// The outcomes of the requests that arrived while the writer was blocked.
struct Crowded {
    answers: JoinSet<Answer>,
    refused: Arc<AtomicUsize>,
}

impl Crowded {
    /// Sends all of them at once: each its create, or a list.
    fn begin(scene: &Scene, callers: usize, create: impl Fn(usize) -> Option<Value>) -> Self {
        let refused = Arc::<AtomicUsize>::default();
        let (mut answers, gate) = (JoinSet::new(), Arc::new(Barrier::new(callers)));
        let caller = caller(scene);
        for number in 0..callers {
            let (caller, gate, refused) = (caller.clone(), Arc::clone(&gate), Arc::clone(&refused));
            let create = create(number);
            answers.spawn(async move {
                gate.wait().await;
                let answer = match create {
                    Some(body) => caller.post_json(PRE_AUTHORIZATIONS, &body).await,
                    None => caller.get(PRE_AUTHORIZATIONS).await,
                };
                if answer.status == 503 {
                    refused.fetch_add(1, Ordering::Relaxed);
                }
                answer
            });
        }
        Self { answers, refused }
    }

    /// Waits until some are refused.
    async fn some_refused(&self) {
        eventually("requests are refused", || {
            self.refused.load(Ordering::Relaxed) > 0
        })
        .await;
    }

    /// Every request gets an answer: what it asked for, a refusal by a queue, or one because its head
    /// office has too many requests in progress. Returns how many were refused.
    async fn end(self, expected: u16) -> usize {
        let mut refused = 0;
        for answer in self.answers.join_all().await {
            if matches!(answer.status, 429 | 503) {
                let codes = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];
                assert!(codes.contains(&answer.code().as_str()), "{}", answer.text);
                let wait: u32 = answer.header("retry-after").parse().unwrap();
                assert!((1..=60).contains(&wait), "{wait}");
                refused += 1;
            } else {
                assert_eq!(answer.status, expected, "{}", answer.text);
            }
        }
        refused
    }
}

fn caller(scene: &Scene) -> RawCaller {
    let sandbox = scene.first().sandbox();
    RawCaller::new(sandbox.text("baseUrl"), Some(sandbox.text("apiKey")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_writer_refuses_creates_with_retry_after_and_delays_no_read_on_sqlite() {
    let scene = Scene::on_file().await;
    let file = scene.first().data().join("preauth.db");
    let url = format!("sqlite://{}", file.display());
    let mut holder = SqliteConnection::connect(&url).await.unwrap();
    let sandbox = scene.first().sandbox();
    let first = offer_body(sandbox, "before");
    let made = caller(&scene).post_json(PRE_AUTHORIZATIONS, &first).await;
    let made = made.json()["id"].to_string();
    holder.execute("BEGIN IMMEDIATE").await.unwrap();
    // Nothing is written while the lock is held, and everything is read.
    let before = listed(&scene).await;
    let read = caller(&scene)
        .get(&format!("{PRE_AUTHORIZATIONS}/{made}"))
        .await;
    assert_eq!(read.status, 200, "{}", read.text);
    let body = |number| Some(offer_body(sandbox, &format!("blocked {number}")));
    let crowded = Crowded::begin(&scene, CREATORS, body);
    crowded.some_refused().await;
    holder.execute("ROLLBACK").await.unwrap();
    let refused = crowded.end(201).await;
    assert_eq!(listed(&scene).await - before, CREATORS - refused);
    println!("SQLite: {refused} of {CREATORS} refused");
}

/// The number of operations.
async fn listed(scene: &Scene) -> usize {
    let answer = caller(scene).get(PRE_AUTHORIZATIONS).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let total = answer.json()["pagination"]["total"].as_u64().unwrap();
    total.try_into().unwrap()
}

// Contract: error-code-of-ours/SERVICE_UNAVAILABLE
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_at_once_with_retry_after_on_postgresql() {
    let database = Database::empty().await;
    let scene = Scene::on(&database.url()).await;
    let sql = PgPool::connect(&database.url()).await.unwrap();
    let mut holder = sql.begin().await.unwrap();
    holder.execute("LOCK TABLE api_keys").await.unwrap();
    let crowded = Crowded::begin(&scene, CALLERS, |_| None);
    crowded.some_refused().await;
    holder.rollback().await.unwrap();
    let refused = crowded.end(200).await;
    scene.erp(0).offer().await;
    println!(
        "PostgreSQL: {refused} of {CALLERS} refused; {}",
        scene.check_consistency().await
    );
}

/// Readers do not wait for each other's statements, of which each waits for the lock until its timeout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_events_are_refused_in_time_while_events_cannot_be_numbered_on_postgresql() {
    let database = Database::empty().await;
    let scene = Scene::on(&database.url()).await;
    let sql = PgPool::connect(&database.url()).await.unwrap();
    let caller = caller(&scene);
    assert_eq!(caller.get(EVENTS).await.status, 200);
    let mut holder = sql.begin().await.unwrap();
    holder.execute("LOCK TABLE event_batches").await.unwrap();
    let mut answers = JoinSet::new();
    for _ in 0..READERS {
        let caller = caller.clone();
        answers.spawn(async move { caller.get(EVENTS).await });
    }
    // The lock is held all the time.
    let answers = timeout(MAX_ANSWERING, answers.join_all()).await.unwrap();
    for answer in answers {
        assert_eq!(answer.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
        assert!(!answer.header("retry-after").is_empty());
    }
    holder.rollback().await.unwrap();
    assert_eq!(caller.get(EVENTS).await.status, 200);
}
