//! The stream of events against everything that can go wrong.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use preauth_client::value::EventType;
use preauth_client::wire::{EventData, RawEventEnvelope};
use preauth_client::{
    Client, CursorResult, CursorStore, Error, ErrorCode, ErrorKind, Events, MemoryCursor,
    RetryPolicy,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::broken_connections::{listener, send_and_hang_up};
use crate::skipped::Skipped;
use crate::{KEY, answering, client, quick, refusal, requests};

const EVENTS: usize = 5;

/// A service with events, and the answers that come before its own.
#[derive(Clone, Default)]
struct Feed(Arc<Mutex<VecDeque<Option<ResponseTemplate>>>>);

impl Respond for Feed {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        if let Some(Some(fault)) = self.0.lock().unwrap().pop_front() {
            return fault;
        }
        let limit = parameter(request, "limit").unwrap().parse().unwrap();
        ResponseTemplate::new(200)
            .set_body_json(page(parameter(request, "after").as_deref(), limit))
    }
}

fn parameter(request: &Request, name: &str) -> Option<String> {
    let mut pairs = request.url.query_pairs();
    let (_, value) = pairs.find(|(key, _)| key == name)?;
    Some(value.into_owned())
}

/// The event with this number, from 0.
fn event(number: usize) -> Value {
    json!({
        "id": format!("0197f3c2-7b1a-7c33-9d2e-{number:012}"),
        "type": "pre_authorization.created",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "data": {"number": number},
    })
}

/// The events after a cursor.
fn page(after: Option<&str>, limit: usize) -> Value {
    let from: usize = after.map_or(0, |cursor| cursor[1..].parse().unwrap());
    let upto = from.saturating_add(limit).min(EVENTS);
    json!({
        "data": (from..upto).map(event).collect::<Vec<_>>(),
        "pagination": {"next": format!("c{upto}"), "hasMore": upto < EVENTS},
    })
}

/// A feed whose second answer is preceded by these.
async fn faulty(faults: impl IntoIterator<Item = ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    let faults = faults.into_iter().map(Some);
    let feed = Feed(Arc::new(Mutex::new(
        std::iter::once(None).chain(faults).collect(),
    )));
    Mock::given(any()).respond_with(feed).mount(&server).await;
    server
}

/// Reads two events at a time, to the end of what there is.
fn reader(client: &Client, cursor: &MemoryCursor) -> Events {
    let events = client.events(cursor.clone());
    events.limit(2).wait(Duration::ZERO)
}

fn number(event: &RawEventEnvelope) -> usize {
    event.id.to_string()[24..].parse().unwrap()
}

/// The numbers of the events up to the end of the stream, and the errors between them.
async fn all(events: &mut Events) -> (Vec<usize>, Vec<Error>) {
    let (mut numbers, mut errors) = (Vec::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => numbers.push(number(&event)),
            Err(error) => errors.push(error),
        }
        assert!(numbers.len().max(errors.len()) < 100, "without end");
    }
    (numbers, errors)
}

fn every() -> Vec<usize> {
    (0..EVENTS).collect()
}

#[tokio::test]
async fn a_fault_that_passes_is_waited_out_and_nothing_is_skipped_or_repeated() {
    let gateway = ResponseTemplate::new(502).set_body_string("<html>");
    let limited = refusal(429, "RATE_LIMITED").insert_header("retry-after", "7");
    for (fault, wait_ms) in [
        (limited, 7_100),
        (refusal(408, "REQUEST_TIMEOUT"), 100),
        (refusal(500, "INTERNAL_ERROR"), 100),
        (gateway, 100),
        (refusal(503, "SERVICE_UNAVAILABLE"), 100),
        (ResponseTemplate::new(504), 100),
    ] {
        let server = faulty([fault]).await;
        let skipped = Skipped::half();
        let client = Client::builder(server.uri(), KEY).timing(Arc::clone(&skipped));
        let cursor = MemoryCursor::new();
        let mut events = reader(&client.build().unwrap(), &cursor);
        let (numbers, errors) = all(&mut events).await;
        assert_eq!((numbers, errors.len()), (every(), 0));
        assert_eq!(skipped.waits_ms(), [wait_ms]);
        assert_eq!(cursor.get().as_deref(), Some("c5"));
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_asked_for_again() {
    let answer = |after: Option<&str>| {
        let body = page(after, 2).to_string();
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
    };
    let second = answer(Some("c2"));
    let (listener, base_url) = listener().await;
    let sent = vec![
        String::new(),
        answer(None),
        second[..20].to_owned(),
        second[..second.len() - 1].to_owned(),
        second,
        answer(Some("c4")),
        answer(Some("c5")),
    ];
    tokio::spawn(send_and_hang_up(listener, sent));
    let client = quick(&base_url).build().unwrap();
    let (numbers, errors) = all(&mut reader(&client, &MemoryCursor::new())).await;
    assert_eq!((numbers, errors.len()), (every(), 0));
}

#[tokio::test]
async fn when_attempts_run_out_the_next_poll_goes_on_at_the_same_place() {
    // Three attempts of two calls.
    let faults = std::iter::repeat_with(|| refusal(503, "SERVICE_UNAVAILABLE")).take(6);
    let server = faulty(faults).await;
    let mut events = reader(&client(&server), &MemoryCursor::new());
    let (numbers, errors) = all(&mut events).await;
    assert_eq!((numbers, errors.len()), (every(), 2));
    for error in errors {
        assert!(error.is_retryable());
        assert_eq!(error.attempts(), 3);
    }
}

#[tokio::test]
async fn a_refusal_that_stays_ends_the_stream_after_what_was_handled_is_saved() {
    for (status, code) in [
        (400, "VALIDATION_ERROR"),
        (401, "API_KEY_REVOKED"),
        (403, "INTEGRATION_SCOPE_FORBIDDEN"),
        (410, "EVENT_CURSOR_EXPIRED"),
        (418, "SOMETHING_NEW"),
    ] {
        let server = faulty([refusal(status, code)]).await;
        let cursor = MemoryCursor::new();
        let (numbers, errors) = all(&mut reader(&client(&server), &cursor)).await;
        assert_eq!((numbers, errors.len()), (vec![0, 1], 1), "{code}");
        assert_eq!(errors[0].status(), Some(status));
        assert_eq!(cursor.get().as_deref(), Some("c2"), "{code}");
        assert_eq!(requests(&server).await.len(), 2, "{code}");
    }
}

#[tokio::test]
async fn an_expired_cursor_may_begin_again_but_not_without_end() {
    let server = faulty([refusal(410, "EVENT_CURSOR_EXPIRED")]).await;
    let cursor = MemoryCursor::new();
    let again = reader(&client(&server), &cursor).begin_again_when_expired();
    let (numbers, errors) = all(&mut { again }).await;
    assert_eq!((numbers, errors.len()), (vec![0, 1, 0, 1, 2, 3, 4], 0));
    assert_eq!(cursor.get().as_deref(), Some("c5"));

    let server = MockServer::start().await;
    answering(&server, refusal(410, "EVENT_CURSOR_EXPIRED"), None).await;
    let again = reader(&client(&server), &MemoryCursor::at("c3")).begin_again_when_expired();
    let (numbers, errors) = all(&mut { again }).await;
    assert_eq!((numbers.len(), errors.len()), (0, 1));
    let code = errors[0].code().and_then(|code| code.known());
    assert_eq!(code, Some(&ErrorCode::EventCursorExpired));
    assert_eq!(requests(&server).await.len(), 2);
}

#[tokio::test]
async fn an_answer_that_is_none_of_the_service_ends_the_stream() {
    let whole = page(Some("c2"), 2).to_string();
    let standing = json!({"data": [event(2)], "pagination": {"next": "c2", "hasMore": true}});
    let empty = json!({"data": [], "pagination": {"next": "c2", "hasMore": true}});
    let without_id =
        json!({"data": [{"type": "x"}], "pagination": {"next": "c3", "hasMore": true}});
    for (body, kind) in [
        (whole[..60].to_owned(), ErrorKind::UnreadableSuccess),
        ("[]".to_owned(), ErrorKind::UnreadableSuccess),
        (r#"{"data":[]}"#.to_owned(), ErrorKind::UnreadableSuccess),
        (
            r#"{"data":[],"pagination":{"next":7,"hasMore":false}}"#.to_owned(),
            ErrorKind::UnreadableSuccess,
        ),
        (without_id.to_string(), ErrorKind::UnreadableSuccess),
        (standing.to_string(), ErrorKind::UnexpectedAnswer),
        (empty.to_string(), ErrorKind::UnexpectedAnswer),
    ] {
        let answer = ResponseTemplate::new(200).set_body_raw(body.clone(), "application/json");
        let server = faulty([answer]).await;
        let cursor = MemoryCursor::new();
        let (numbers, errors) = all(&mut reader(&client(&server), &cursor)).await;
        assert_eq!((numbers, errors.len()), (vec![0, 1], 1), "{body}");
        assert_eq!(errors[0].kind(), kind, "{body}");
        assert_eq!(cursor.get().as_deref(), Some("c2"), "{body}");
        // The next run of the program goes on there.
        let (numbers, _) = all(&mut reader(&client(&server), &cursor)).await;
        assert_eq!(numbers, [2, 3, 4], "{body}");
    }
}

/// Fails at the first load, and at each second save.
#[derive(Default)]
struct Failing {
    cursor: MemoryCursor,
    loads: AtomicU32,
    saves: AtomicU32,
}

impl CursorStore for Failing {
    fn load(&self) -> CursorResult<'_, Option<String>> {
        match self.loads.fetch_add(1, Ordering::SeqCst) {
            0 => Box::pin(async { Err("the disk is away".into()) }),
            _ => self.cursor.load(),
        }
    }

    fn save(&self, cursor: String) -> CursorResult<'_, ()> {
        match self.saves.fetch_add(1, Ordering::SeqCst) % 2 {
            0 => Box::pin(async { Err("the disk is full".into()) }),
            _ => self.cursor.save(cursor),
        }
    }
}

#[tokio::test]
async fn a_store_that_fails_sends_nothing_and_skips_nothing() {
    let server = faulty([]).await;
    let store = Arc::new(Failing {
        cursor: MemoryCursor::at("c1"),
        ..Failing::default()
    });
    let events = client(&server).events(Arc::clone(&store));
    let mut events = events.limit(2).wait(Duration::ZERO);
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cursor);
    assert!(format!("{error:?}").contains("the disk is away"));
    assert!(requests(&server).await.is_empty());
    let (numbers, errors) = all(&mut events).await;
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(errors.len(), 2);
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Cursor);
        assert!(format!("{error:?}").contains("the disk is full"));
    }
    let sent = requests(&server).await;
    let after: Vec<_> = sent.iter().map(|it| parameter(it, "after")).collect();
    let expected = ["c1", "c3", "c5"].map(|cursor| Some(cursor.to_owned()));
    assert_eq!(after, expected);
    assert_eq!(store.cursor.get().as_deref(), Some("c5"));
}

#[tokio::test]
async fn what_is_new_in_an_event_is_kept() {
    let server = MockServer::start().await;
    let mut unknown = event(0);
    unknown["type"] = json!("invoice.framed");
    unknown["data"] = json!({"frame": ["gold", 7]});
    unknown["later"] = json!({"since": 2});
    let mut known = event(1);
    known["data"]["later"] = json!(true);
    let list = json!({
        "data": [unknown, known],
        "pagination": {"next": "c2", "hasMore": false, "later": 1},
        "later": null,
    });
    answering(
        &server,
        ResponseTemplate::new(200).set_body_json(list),
        None,
    )
    .await;
    let mut events = client(&server).events(MemoryCursor::new());
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(first.event_type.as_str(), "invoice.framed");
    assert_eq!(first.event_type.known(), None);
    assert!(matches!(first.data().unwrap(), EventData::Unknown));
    assert_eq!(first.data.get(), r#"{"frame":["gold",7]}"#);
    let second = events.next().await.unwrap().unwrap();
    let known = second.event_type.known();
    assert_eq!(known, Some(&EventType::PreAuthorizationCreated));
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_nothing_and_is_not_asked_twice() {
    let server = MockServer::start().await;
    let late = ResponseTemplate::new(200)
        .set_body_json(page(Some("c3"), 100))
        .set_delay(Duration::from_millis(400));
    answering(&server, late, None).await;
    let mut events = client(&server).events(MemoryCursor::at("c3"));
    let short = Duration::from_millis(20);
    for _ in 0..3 {
        assert!(tokio::time::timeout(short, events.next()).await.is_err());
    }
    assert_eq!(number(&events.next().await.unwrap().unwrap()), 3);
    assert_eq!(requests(&server).await.len(), 1);
}

#[tokio::test]
async fn a_reader_that_is_dropped_hangs_up() {
    let (listener, base_url) = listener().await;
    let mut events = quick(&base_url)
        .build()
        .unwrap()
        .events(MemoryCursor::new());
    let waiting = tokio::spawn(async move { events.next().await.is_some() });
    let (mut connection, _) = listener.accept().await.unwrap();
    let mut request = [0; 4096];
    assert!(connection.read(&mut request).await.unwrap() > 0);
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    // A reset is as good.
    let read = connection.read(&mut request).await.unwrap_or_default();
    assert_eq!(read, 0);
    let _ = connection.shutdown().await;
}

#[tokio::test]
async fn no_wait_is_longer_than_an_attempt_or_a_call_may_take() {
    let (second, default) = (Duration::from_secs(1), RetryPolicy::default);
    for (attempt, policy, wait, asked) in [
        (second * 20, default(), second * 30, Some("15")),
        (second * 60, default(), second * 99, Some("30")),
        (
            second * 20,
            default().budget(second * 8),
            second * 30,
            Some("3"),
        ),
        (second * 4, default(), second * 30, None),
        (second * 20, default(), second * 2, Some("2")),
    ] {
        let server = faulty([]).await;
        let client = Client::builder(server.uri(), KEY)
            .attempt_timeout(attempt)
            .retry(policy);
        let events = client.build().unwrap().events(MemoryCursor::new());
        let mut events = events.limit(4).wait(wait);
        for _ in 0..EVENTS {
            events.next().await.unwrap().unwrap();
        }
        // One more request; its answer has no events.
        let begin = Instant::now();
        while requests(&server).await.len() < 3 {
            assert!(begin.elapsed() < second * 20);
            let next = tokio::time::timeout(second / 100, events.next());
            assert!(next.await.is_err());
        }
        let sent = requests(&server).await;
        let waits: Vec<_> = sent.iter().map(|it| parameter(it, "wait")).collect();
        // What is there comes at once.
        assert_eq!(waits[..2], [None, None]);
        assert_eq!(waits[2].as_deref(), asked);
    }
}

#[tokio::test]
async fn the_time_of_a_call_bounds_its_retries_and_the_next_poll_has_its_own() {
    let server = MockServer::start().await;
    let limited = refusal(429, "RATE_LIMITED").insert_header("retry-after", "60");
    answering(&server, limited, Some(4)).await;
    let feed = Feed::default();
    Mock::given(any()).respond_with(feed).mount(&server).await;
    let skipped = Skipped::half();
    // 75 s in all: one wait of a minute fits, two do not.
    let client = Client::builder(server.uri(), KEY).timing(Arc::clone(&skipped));
    let mut events = reader(&client.build().unwrap(), &MemoryCursor::new());
    for _ in 0..2 {
        let error = events.next().await.unwrap().unwrap_err();
        assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
        assert!(error.is_retryable());
    }
    // The second poll comes after the time that the first was asked to wait.
    assert_eq!(skipped.waits_ms(), [60_100, 60_100, 60_100]);
    assert_eq!(all(&mut events).await.0, every());
}

#[tokio::test]
async fn a_service_where_too_many_wait_is_not_asked_in_a_hurry() {
    let server = MockServer::start().await;
    let nothing = ResponseTemplate::new(200).set_body_json(page(Some("c5"), 100));
    answering(&server, nothing, Some(4)).await;
    answering(&server, refusal(401, "API_KEY_REVOKED"), None).await;
    let skipped = Skipped::half();
    let client = Client::builder(server.uri(), KEY).timing(Arc::clone(&skipped));
    let mut events = client.build().unwrap().events(MemoryCursor::at("c5"));
    assert!(events.next().await.unwrap().is_err());
    // The first answer need not have waited.
    assert_eq!(skipped.waits_ms(), [2_000, 2_000, 2_000]);
}
