//! Two instances on one database.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use test_support::{Answer, Database, due_date};
use tokio::task::JoinSet;

use crate::chance::rounds;
use crate::feed_reader::FeedReader;
use crate::instance::signal;
use crate::scene::{Scene, eventually, leases_run_out};

const REQUESTS: usize = 100;

async fn two_on(database: &Database) -> Scene {
    let mut scene = Scene::on(&database.url()).await;
    scene.add_instance().await;
    scene
}

/// Offers one invoice with many concurrent requests, through both instances in turn.
async fn all_at_once(scene: &Scene, number: &str, key: Option<&str>) -> Vec<Answer> {
    let (erps, mut requests) = ([scene.erp(0), scene.erp(1)], JoinSet::new());
    for turn in 0..REQUESTS {
        let (erp, number) = (erps[turn % 2].clone(), number.to_owned());
        let key = key.map(str::to_owned);
        requests.spawn(async move {
            let header = key.as_deref().map(|key| ("idempotency-key", key));
            let headers: Vec<_> = header.into_iter().collect();
            erp.post(&number, &headers).await.unwrap()
        });
    }
    requests.join_all().await
}

fn counted(answers: &[Answer]) -> BTreeMap<(u16, String), usize> {
    let mut counts = BTreeMap::new();
    for answer in answers {
        *counts.entry(answer.refusal()).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn a_hundred_requests_with_one_key_make_one_operation() {
    let database = Database::empty().await;
    let scene = two_on(&database).await;
    for round in 0..rounds(3) {
        let number = scene.erp(0).next_number();
        let key = format!("pedido-{round:04}");
        let answers = all_at_once(&scene, &number, Some(&key)).await;
        let created: Vec<_> = answers.iter().filter(|it| it.status == 201).collect();
        assert!(created.iter().all(|it| it.text == created[0].text));
        let first = |it: &&&Answer| it.header("idempotency-replayed").is_empty();
        assert_eq!(
            created.iter().filter(first).count(),
            1,
            "{:?}",
            counted(&answers)
        );
        let in_progress = (409, "IDEMPOTENCY_IN_PROGRESS".to_owned());
        let others = answers.iter().filter(|it| it.status != 201);
        assert!(others.map(Answer::refusal).all(|it| it == in_progress));
        scene.ledger.note_answer(&number, Some(&key), created[0]);
    }
    println!("one key: {}", scene.check_consistency().await);
}

#[tokio::test]
async fn a_hundred_requests_without_a_key_make_one_operation() {
    let database = Database::empty().await;
    let scene = two_on(&database).await;
    for _ in 0..rounds(3) {
        let number = scene.erp(0).next_number();
        let answers = all_at_once(&scene, &number, None).await;
        let created = answers.iter().find(|it| it.status == 201).unwrap();
        let expected = BTreeMap::from([
            ((201, String::new()), 1),
            ((409, "PRE_AUTH_DUPLICATE_INVOICE".to_owned()), REQUESTS - 1),
        ]);
        assert_eq!(counted(&answers), expected);
        for refused in answers.iter().filter(|it| it.status == 409) {
            assert_eq!(
                refused.json()["details"][0]["anticipationId"],
                created.json()["id"]
            );
        }
        scene.ledger.note_answer(&number, None, created);
    }
    println!("no key: {}", scene.check_consistency().await);
}

#[tokio::test]
async fn one_key_for_two_invoices_makes_one_operation() {
    let database = Database::empty().await;
    let scene = two_on(&database).await;
    let numbers = [scene.erp(0).next_number(), scene.erp(0).next_number()];
    let (erps, mut requests) = ([scene.erp(0), scene.erp(1)], JoinSet::new());
    for turn in 0..REQUESTS {
        // Each instance gets both invoices.
        let (erp, number) = (erps[turn % 2].clone(), numbers[turn / 2 % 2].clone());
        requests.spawn(async move {
            let key = [("idempotency-key", "pedido-0001")];
            let answer = erp.post(&number, &key).await.unwrap();
            (number, answer)
        });
    }
    let answers = requests.join_all().await;
    let (number, created) = answers.iter().find(|(_, it)| it.status == 201).unwrap();
    for (asked, answer) in &answers {
        match answer.status {
            201 => assert_eq!((asked, &answer.text), (number, &created.text)),
            409 if answer.code() == "IDEMPOTENCY_KEY_REUSED" => assert_ne!(asked, number),
            _ => assert_eq!(answer.code(), "IDEMPOTENCY_IN_PROGRESS"),
        }
    }
    scene
        .ledger
        .note_answer(number, Some("pedido-0001"), created);
    println!("two bodies: {}", scene.check_consistency().await);
}

#[tokio::test]
async fn one_instance_is_killed_again_and_again_beside_another() {
    let database = Database::empty().await;
    let mut scene = two_on(&database).await;
    let readers = [0, 1].map(|it| FeedReader::begin(scene.erp(it).client()));
    let load = scene.begin_load();
    let kills = rounds(4);
    for _ in 0..kills {
        scene.wait_for_offers(15).await;
        scene.instances[1].kill_and_start().await;
    }
    load.end().await;
    let sql = database.sql().await;
    leases_run_out(&sql).await;
    let figures = scene.check_consistency().await;
    for reader in readers {
        reader.read_what_arrived(&scene).await;
    }
    scene.nothing_lingers(&sql).await;
    println!("one of two killed {kills} times: {figures}");
}

/// An insert of such an event is delayed in the database.
const SLOW: [&str; 2] = [
    "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN PERFORM pg_sleep(4); RETURN NEW; END'",
    "CREATE TRIGGER slow BEFORE INSERT ON events FOR EACH ROW
     WHEN (NEW.body LIKE '%LENTA%') EXECUTE FUNCTION slow()",
];
const ASLEEP: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'
     AND datname = current_database()";

/// One instance is committing when the other gets the same request.
// Contract: error-code-of-ours/IDEMPOTENCY_IN_PROGRESS
#[tokio::test]
async fn a_key_that_another_instance_commits_at_this_moment_is_in_progress() {
    let database = Database::empty().await;
    let scene = two_on(&database).await;
    let sql = database.sql().await;
    for statement in SLOW {
        sqlx::query(statement).execute(&sql).await.unwrap();
    }
    let offer = |instance| {
        let erp = scene.erp(instance);
        async move {
            let key = [("idempotency-key", "pedido-0001")];
            erp.post("NF-LENTA", &key).await.unwrap()
        }
    };
    let created = asked_twice(&sql, offer(0), offer(1), offer(1)).await;
    scene
        .ledger
        .note_answer("NF-LENTA", Some("pedido-0001"), &created);
    println!("in progress elsewhere: {}", scene.check_consistency().await);
    let company = scene.first().sandbox().company().await;
    let invoice = |instance: usize| {
        let sandbox = scene.instances[instance].sandbox();
        let body = json!({
            "payerCompanyId": company,
            "supplierCnpj": sandbox.text("supplierCnpj"),
            "invoice": {"amount": 900, "dueDate": due_date(60).to_string(), "number": "LENTA-2"},
        });
        let platform = sandbox.platform();
        async move {
            let headers = [("idempotency-key", "fatura-0001")];
            platform
                .post_text("/api/platform/v1/invoices", &headers, body.to_string())
                .await
        }
    };
    asked_twice(&sql, invoice(0), invoice(1), invoice(1)).await;
}

/// Sends the request to one instance, to the other while the first commits, and to the other again;
/// returns the first instance's answer.
async fn asked_twice(
    sql: &sqlx::PgPool,
    first: impl Future<Output = Answer> + Send + 'static,
    meanwhile: impl Future<Output = Answer>,
    afterwards: impl Future<Output = Answer>,
) -> Answer {
    let asleep = || async {
        let count: i64 = sqlx::query_scalar(ASLEEP).fetch_one(sql).await.unwrap();
        count
    };
    let first = tokio::spawn(first);
    while asleep().await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let refused = meanwhile.await;
    let in_progress = (409, "IDEMPOTENCY_IN_PROGRESS".to_owned());
    assert_eq!(refused.refusal(), in_progress, "{}", refused.text);
    assert!(!refused.header("retry-after").is_empty());
    assert!(asleep().await > 0, "it was answered after the commit");
    let created = first.await.unwrap();
    assert_eq!(created.status, 201, "{}", created.text);
    let replayed = afterwards.await;
    assert_eq!(replayed.header("idempotency-replayed"), "true");
    assert_eq!(replayed.text, created.text);
    created
}

/// The first instance freezes with its request answered and the answer unread. The lease expires,
/// the second takes over, and the first must not overwrite the second's outcome.
#[tokio::test]
async fn an_instance_that_was_frozen_overwrites_nothing() {
    let database = Database::empty().await;
    let sql = database.sql().await;
    let scene = two_on(&database).await;
    let (first, second) = (scene.first(), &scene.instances[1]);
    second.signal("STOP");
    let (process, is_frozen) = (
        first.sandbox().process_id(),
        Arc::new(AtomicBool::new(false)),
    );
    let frozen = Arc::clone(&is_frozen);
    scene.receiver.call(Box::new(move || {
        if !frozen.load(Ordering::Relaxed) {
            signal(process, "STOP");
            frozen.store(true, Ordering::Relaxed);
        }
    }));
    let erp = scene.erp(0);
    let offering = tokio::spawn(async move { erp.offer().await });
    eventually("the first is frozen", || is_frozen.load(Ordering::Relaxed)).await;
    assert_eq!(leases_run_out(&sql).await, 1);
    second.signal("CONT");
    scene.wait_for_arrivals(2).await;
    while recorded_attempts(&sql).await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    first.signal("CONT");
    offering.await.unwrap();
    eventually("the first logs that its lease was lost", || {
        first.sandbox().log().contains("lease lost")
    })
    .await;
    let figures = scene.check_consistency().await;
    assert_eq!(recorded_attempts(&sql).await, 1, "the second's alone");
    println!("frozen with a lease: {figures}");
}

/// Taking leases takes a moment for as long as the table is there.
const SLOW_LEASES: [&str; 3] = [
    "CREATE TABLE slow_leases ()",
    "CREATE FUNCTION slow_lease() RETURNS TRIGGER LANGUAGE plpgsql AS $$
     BEGIN
         IF to_regclass('slow_leases') IS NOT NULL THEN
             PERFORM pg_sleep(1);
         END IF;
         RETURN NEW;
     END $$",
    "CREATE TRIGGER slow_lease BEFORE UPDATE ON deliveries
     FOR EACH ROW WHEN (OLD.leased_until IS NULL AND NEW.leased_until IS NOT NULL)
     EXECUTE FUNCTION slow_lease()",
];
/// How long the session has done nothing that keeps its turn to take leases.
const IDLE_WITH_TURN: &str = "SELECT coalesce(max(extract(epoch FROM now() - a.state_change)), 0)::FLOAT8
     FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory' AND l.granted
     WHERE a.datname = current_database() AND a.state = 'idle in transaction'";
/// Longest time that the database leaves it the turn, in seconds; other transactions have 15.
const MAX_IDLE_WITH_TURN: f64 = 6.0;

/// The first freezes while it takes leases, when it is its turn among all instances.
#[tokio::test]
async fn an_instance_that_freezes_while_it_takes_leases_stops_no_other() {
    let database = Database::empty().await;
    let sql = database.sql().await;
    let scene = two_on(&database).await;
    let (first, second) = (scene.first(), &scene.instances[1]);
    second.signal("STOP");
    // So that the commit leases nothing.
    let slow = sqlx::query("UPDATE endpoints SET is_slow = TRUE");
    assert_eq!(slow.execute(&sql).await.unwrap().rows_affected(), 1);
    for statement in SLOW_LEASES {
        sqlx::query(statement).execute(&sql).await.unwrap();
    }
    let erp = scene.erp(0);
    let offering = tokio::spawn(async move { erp.offer().await });
    while sqlx::query_scalar::<_, i64>(ASLEEP)
        .fetch_one(&sql)
        .await
        .unwrap()
        == 0
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    first.signal("STOP");
    sqlx::query("DROP TABLE slow_leases")
        .execute(&sql)
        .await
        .unwrap();
    second.signal("CONT");
    let mut longest: f64 = 0.0;
    while scene.receiver.arrivals() == 0 {
        let idle = sqlx::query_scalar(IDLE_WITH_TURN).fetch_one(&sql).await;
        longest = longest.max(idle.unwrap());
        assert!(
            longest < MAX_IDLE_WITH_TURN,
            "others have waited for {longest:.1} s"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(longest > 0.0, "it did not freeze with the turn");
    first.signal("CONT");
    offering.await.unwrap();
    let figures = scene.check_consistency().await;
    println!("frozen for {longest:.1} s while it took leases: {figures}");
}

async fn recorded_attempts(sql: &sqlx::PgPool) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM attempts");
    count.fetch_one(sql).await.unwrap()
}
