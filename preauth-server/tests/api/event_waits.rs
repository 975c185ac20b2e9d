//! GET /events with `wait`: thousands at once, their ends, and the places of those who hang up.

use std::time::Duration;

use preauth_client::wire::path::{EVENTS, PRE_AUTHORIZATIONS};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use test_support::{
    Answer, Backend, Home, RawCaller, Server, connect, first_answer, on_each_database,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

on_each_database! {
    two_thousand_wait_at_once_and_a_shutdown_answers_them,
    whoever_hangs_up_frees_the_place,
    beyond_half_of_the_connections_nobody_waits,
}

pub(crate) const TOKEN: &str = "an-operator-token-of-the-tests";
const OFFICES: usize = 8;
const WAITING: u32 = 2_000;
/// Of each head office.
const EACH: u32 = WAITING / 8;
/// Bounds of what one waiting request may cost.
const MAX_BYTES_EACH: u64 = 64 * 1024;
const CNPJS: [&str; OFFICES] = [
    "11222333000181",
    "04252011000110",
    "40688134000161",
    "60746948000112",
    "33000167000101",
    "00000000000191",
    "33592510000154",
    "60701190000104",
];

/// A construction company with a key of both scopes.
pub(crate) async fn company(server: &Server, cnpj: &str) -> String {
    let platform = RawCaller::new(&server.platform_url, Some(TOKEN));
    let post = async |path: &str, body: Value| {
        let made = platform
            .post_json(&format!("/api/platform/v1{path}"), &body)
            .await;
        assert_eq!(made.status, 201, "{path}: {}", made.text);
        made.json()
    };
    let company = json!({"cnpj": cnpj, "name": "Construtora", "kind": "CONSTRUCTION"});
    let company = post("/companies", company).await;
    let base = format!("/companies/{}", company["id"].as_str().unwrap());
    let user = json!({
        "name": "Eva", "email": "eva@construtora.example.com",
        "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
    });
    let user = post(&format!("{base}/users"), user).await;
    let key = json!({
        "name": "erp", "responsibleUserId": user["id"],
        "scopes": ["preauth:read", "preauth:write"],
    });
    let key = post(&format!("{base}/api-keys"), key).await;
    let credit = json!({"maxTermDays": 180, "maxInvoiceAmount": 1_000_000});
    let path = format!("/api/platform/v1{base}/credit-analysis");
    let content_type = [("content-type", "application/json")];
    let body = Some(credit.to_string().into_bytes());
    let put = platform
        .send(reqwest::Method::PUT, &path, &content_type, body)
        .await;
    assert_eq!(put.status, 200, "{}", put.text);
    key["key"].as_str().unwrap().to_owned()
}

/// A request that has been sent.
async fn begin(server: &Server, key: &str, query: &str) -> TcpStream {
    let mut stream = connect(&server.base_url).await;
    let request = format!(
        "GET {EVENTS}?{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    first_answer(&bytes).expect("an answer")
}

/// A figure of the server's metrics.
async fn figure(server: &Server, name: &str) -> u64 {
    let answer = RawCaller::new(&server.platform_url, None)
        .get("/metrics")
        .await;
    let lines = answer.text.lines();
    let line = lines.into_iter().find_map(|line| line.strip_prefix(name));
    let value: f64 = line.unwrap().trim().parse().unwrap();
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count"
    )]
    let value = value as u64;
    value
}

async fn until_waiting(server: &Server, count: u64) {
    let begin = Instant::now();
    loop {
        let waiting = figure(server, "preauth_event_requests_waiting ").await;
        if waiting == count {
            return;
        }
        assert!(
            begin.elapsed() < Duration::from_mins(1),
            "never {count} waiting, at last {waiting}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The same number of waiting calls for each key.
async fn all_begin(server: &Server, keys: &[String]) -> Vec<Vec<TcpStream>> {
    let mut waiting = Vec::new();
    for key in keys {
        let mut streams = Vec::new();
        for _ in 0..EACH {
            streams.push(begin(server, key, "wait=30").await);
        }
        waiting.push(streams);
    }
    waiting
}

async fn two_thousand_wait_at_once_and_a_shutdown_answers_them(backend: Backend) {
    let home = Home::new(backend).await;
    let server = Server::start_with(
        home,
        TOKEN,
        &[
            ("PREAUTH_CONNECTIONS_MAX", "4100"),
            ("PREAUTH_RATE_LIMIT_REQUESTS", "1000000"),
            ("RUST_LOG", "info"),
        ],
    )
    .await;
    let mut keys = Vec::new();
    for cnpj in CNPJS {
        keys.push(company(&server, cnpj).await);
    }
    let memory = figure(&server, "process_resident_memory_bytes ").await;
    let threads = figure(&server, "process_threads ").await;
    let mut waiting = all_begin(&server, &keys).await;
    until_waiting(&server, WAITING.into()).await;
    let grown = figure(&server, "process_resident_memory_bytes ")
        .await
        .saturating_sub(memory);
    assert!(grown < MAX_BYTES_EACH * u64::from(WAITING), "{grown} bytes");
    // The database drivers have a few of their own.
    let grown = figure(&server, "process_threads ")
        .await
        .saturating_sub(threads);
    assert!(grown < 16, "{grown} threads");
    // One event wakes those of its head office, and nobody else.
    let caller = RawCaller::new(&server.base_url, Some(&keys[0]));
    let created = caller.post_json(PRE_AUTHORIZATIONS, &offer()).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let mut woken = JoinSet::new();
    for stream in waiting.remove(0) {
        woken.spawn(answer(stream));
    }
    for answer in woken.join_all().await {
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(
            answer.json()["data"][0]["type"],
            "pre_authorization.created"
        );
    }
    until_waiting(&server, (WAITING - EACH).into()).await;
    // The stop waits for all requests in progress, and these end at once.
    let mut rest = JoinSet::new();
    for stream in waiting.into_iter().flatten() {
        rest.spawn(answer(stream));
    }
    let begin = Instant::now();
    let stopped = tokio::task::spawn_blocking(move || server.stop());
    for answer in rest.join_all().await {
        assert_eq!((answer.status, &answer.json()["data"]), (200, &json!([])));
    }
    assert!(
        begin.elapsed() < Duration::from_secs(15),
        "{:?}",
        begin.elapsed()
    );
    let log = stopped.await.unwrap();
    assert!(!log.contains("still under way"), "{log}");
}

/// A few looks a second serve all who wait; workers look, too.
#[tokio::test]
async fn two_hundred_who_wait_share_their_looks() {
    const WAITS: u32 = 200;
    let home = Home::new(Backend::Postgres).await;
    let url = home.database_flags().pop().unwrap();
    let server =
        Server::start_with(home, TOKEN, &[("PREAUTH_RATE_LIMIT_REQUESTS", "1000000")]).await;
    let key = company(&server, CNPJS[0]).await;
    let mut waiting = Vec::new();
    for _ in 0..WAITS {
        waiting.push(begin(&server, &key, "wait=30").await);
    }
    until_waiting(&server, WAITS.into()).await;
    let mut sql = PgConnection::connect(&url).await.unwrap();
    // Sessions report what they did up to ten seconds later, so that the first windows hold the beginning of the waits.
    let mut made = Vec::new();
    let mut is_shared = false;
    while !is_shared && made.len() < 6 {
        let (before, begin) = (transactions(&mut sql).await, Instant::now());
        tokio::time::sleep(Duration::from_secs(3)).await;
        made.push(transactions(&mut sql).await - before);
        let allowed = 100 * i64::try_from(begin.elapsed().as_secs()).unwrap();
        is_shared = made.last().is_some_and(|it| *it < allowed);
    }
    assert!(is_shared, "transactions in each window: {made:?}");
    until_waiting(&server, WAITS.into()).await;
    drop(waiting);
    server.stop();
}

/// The transactions of a database that have ended.
async fn transactions(sql: &mut PgConnection) -> i64 {
    let ended = "SELECT xact_commit + xact_rollback FROM pg_stat_database
         WHERE datname = current_database()";
    sqlx::query_scalar(ended).fetch_one(sql).await.unwrap()
}

fn offer() -> Value {
    json!({
        "supplier": {
            "cnpj": "12ABC34501DE35", "email": "fin@fornecedor.example.com",
            "name": "Fornecedor Novo Ltda.", "contactName": "Bruno Lima",
        },
        "invoice": {
            "amount": 1_000, "number": "NF-1",
            "dueDate": test_support::due_date(30).to_string(),
        },
    })
}

async fn whoever_hangs_up_frees_the_place(backend: Backend) {
    // A head office may have two requests in progress, and four may wait.
    let limits = [("PREAUTH_CONNECTIONS_MAX", "16"), ("RUST_LOG", "info")];
    let server = Server::start_with(Home::new(backend).await, TOKEN, &limits).await;
    let key = company(&server, CNPJS[0]).await;
    let caller = RawCaller::new(&server.base_url, Some(&key));
    let streams = [
        begin(&server, &key, "wait=30").await,
        begin(&server, &key, "wait=30").await,
    ];
    until_waiting(&server, 2).await;
    assert_eq!(caller.get(EVENTS).await.status, 429);
    drop(streams);
    until_waiting(&server, 0).await;
    assert_eq!(caller.get(EVENTS).await.status, 200);
}

async fn beyond_half_of_the_connections_nobody_waits(backend: Backend) {
    let limits = [("PREAUTH_CONNECTIONS_MAX", "16"), ("RUST_LOG", "info")];
    let server = Server::start_with(Home::new(backend).await, TOKEN, &limits).await;
    let mut waiting = Vec::new();
    let mut caller = None;
    for cnpj in CNPJS {
        let key = company(&server, cnpj).await;
        waiting.push(begin(&server, &key, "wait=30").await);
        caller = Some(RawCaller::new(&server.base_url, Some(&key)));
    }
    until_waiting(&server, 8).await;
    let begin = Instant::now();
    let answer = caller.unwrap().get(&format!("{EVENTS}?wait=30")).await;
    assert_eq!((answer.status, &answer.json()["data"]), (200, &json!([])));
    assert!(begin.elapsed() < Duration::from_secs(15), "it waited");
    assert_eq!(figure(&server, "preauth_event_requests_waiting ").await, 8);
    drop(waiting);
}
