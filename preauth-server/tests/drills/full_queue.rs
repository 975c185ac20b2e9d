//! More requests arrive than a queue has places, while its writer is blocked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use sqlx::{Connection, Executor, PgPool, SqliteConnection};
use test_support::{Answer, Database, RawCaller};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::scene::{Scene, eventually};

/// More than the places of the queue and one batch.
const CALLERS: usize = 1_500;

/// The outcomes of the requests that arrived while the writer was blocked.
struct Crowded {
    answers: JoinSet<Answer>,
    refused: Arc<AtomicUsize>,
}

impl Crowded {
    /// Sends all of them at once.
    fn begin(scene: &Scene) -> Self {
        let refused = Arc::<AtomicUsize>::default();
        let (mut answers, gate) = (JoinSet::new(), Arc::new(Barrier::new(CALLERS)));
        let sandbox = scene.first().sandbox();
        let caller = RawCaller::new(sandbox.text("baseUrl"), Some(sandbox.text("apiKey")));
        for _ in 0..CALLERS {
            let (caller, gate, refused) = (caller.clone(), Arc::clone(&gate), Arc::clone(&refused));
            answers.spawn(async move {
                gate.wait().await;
                let answer = caller.get(PRE_AUTHORIZATIONS).await;
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
        eventually("a full queue refuses", || {
            self.refused.load(Ordering::Relaxed) > 0
        })
        .await;
    }

    /// Every request gets an answer: what it asked for, a refusal by the full queue, or one because
    /// its head office has too many requests in progress once the writer goes on. Returns how many
    /// were refused.
    async fn end(self) -> usize {
        let mut refused = 0;
        for answer in self.answers.join_all().await {
            if matches!(answer.status, 429 | 503) {
                let codes = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];
                assert!(codes.contains(&answer.code().as_str()), "{}", answer.text);
                let wait: u32 = answer.header("retry-after").parse().unwrap();
                assert!((1..=60).contains(&wait), "{wait}");
                refused += 1;
            } else {
                assert_eq!(answer.status, 200, "{}", answer.text);
            }
        }
        refused
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_at_once_with_retry_after_on_sqlite() {
    let scene = Scene::on_file().await;
    let file = scene.first().data().join("preauth.db");
    let url = format!("sqlite://{}", file.display());
    let mut holder = SqliteConnection::connect(&url).await.unwrap();
    holder.execute("BEGIN IMMEDIATE").await.unwrap();
    let crowded = Crowded::begin(&scene);
    // Nothing else completes a request while the lock is held.
    crowded.some_refused().await;
    holder.execute("ROLLBACK").await.unwrap();
    let refused = crowded.end().await;
    scene.erp(0).offer().await;
    println!(
        "SQLite: {refused} of {CALLERS} refused; {}",
        scene.check_consistency().await
    );
}

// Contract: error-code-of-ours/SERVICE_UNAVAILABLE
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_at_once_with_retry_after_on_postgresql() {
    let database = Database::empty().await;
    let scene = Scene::on(&database.url()).await;
    let sql = PgPool::connect(&database.url()).await.unwrap();
    let mut holder = sql.begin().await.unwrap();
    holder.execute("LOCK TABLE api_keys").await.unwrap();
    let crowded = Crowded::begin(&scene);
    crowded.some_refused().await;
    holder.rollback().await.unwrap();
    let refused = crowded.end().await;
    scene.erp(0).offer().await;
    println!(
        "PostgreSQL: {refused} of {CALLERS} refused; {}",
        scene.check_consistency().await
    );
}
