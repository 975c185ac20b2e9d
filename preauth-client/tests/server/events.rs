//! Events on request, by the real service.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use preauth_client::value::{EventType, OperationId};
use preauth_client::wire::EventData;
use preauth_client::{CursorResult, CursorStore, ErrorCode, ErrorKind, MemoryCursor};
use preauth_server::testing::TestServer;

use crate::{client, offer};

#[tokio::test]
async fn each_event_comes_once_and_a_new_reader_goes_on_where_the_last_one_asked() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let mut ids = Vec::new();
    for n in 0..7 {
        ids.push(
            client
                .create(&offer(&server, &format!("NF-{n}")))
                .await
                .unwrap()
                .id,
        );
    }
    let cursor = MemoryCursor::new();
    let reader = || client.events(cursor.clone()).limit(3).wait(Duration::ZERO);
    // Five were handled when the program was killed: the second answer comes again.
    let mut killed = reader();
    for expected in &ids[..5] {
        let event = killed.next().await.unwrap().unwrap();
        assert_eq!(subject(&event.data().unwrap()), Some(*expected));
    }
    drop(killed);
    let mut second = reader();
    let mut seen = Vec::new();
    while let Some(event) = second.next().await {
        seen.extend(subject(&event.unwrap().data().unwrap()));
    }
    assert_eq!(seen, ids[3..]);
    assert!(reader().next().await.is_none());
    client.cancel(ids[0]).await.unwrap();
    let revoked = reader().next().await.unwrap().unwrap();
    assert_eq!(
        revoked.event_type.known(),
        Some(&EventType::PreAuthorizationRevoked)
    );
}

fn subject(data: &EventData) -> Option<OperationId> {
    match data {
        EventData::Operation(operation) => Some(operation.anticipation_id),
        _ => None,
    }
}

#[tokio::test]
async fn a_reader_that_waits_gets_the_next_event_of_its_types() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let revoked = [EventType::PreAuthorizationRevoked];
    let mut events = client.events(MemoryCursor::new()).types(revoked);
    let (event, ()) = tokio::join!(events.next(), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let operation = client.create(&offer(&server, "NF-1")).await.unwrap();
        client.cancel(operation.id).await.unwrap();
    });
    let event = event.unwrap().unwrap();
    assert_eq!(
        event.event_type.known(),
        Some(&EventType::PreAuthorizationRevoked)
    );
    assert!(events.rate_limit().is_some());
}

#[tokio::test]
async fn a_cursor_that_is_none_ends_the_stream() {
    let server = TestServer::start().unwrap();
    let mut events = client(&server).events(MemoryCursor::at("not-a-cursor"));
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(
        error.code().and_then(|code| code.known()),
        Some(&ErrorCode::ValidationError)
    );
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn an_expired_cursor_ends_the_stream_or_begins_again() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let cursor = MemoryCursor::new();
    client.create(&offer(&server, "NF-1")).await.unwrap();
    let mut first = client.events(cursor.clone()).limit(1).wait(Duration::ZERO);
    while first.next().await.is_some() {}
    let early = cursor.get().unwrap();
    // The offer expires in the meantime, which is an event, and so is a new offer.
    server.advance(Duration::from_hours(31 * 24)).unwrap();
    client.create(&offer(&server, "NF-2")).await.unwrap();
    let begin = tokio::time::Instant::now();
    let expired = loop {
        server.advance(Duration::from_hours(20 * 24)).unwrap();
        client
            .create(&offer(&server, &format!("NF-{:?}", begin.elapsed())))
            .await
            .unwrap();
        let mut again = client
            .events(MemoryCursor::at(early.clone()))
            .wait(Duration::ZERO);
        match again.next().await {
            Some(Err(error)) => break error,
            _ => assert!(
                begin.elapsed() < Duration::from_secs(60),
                "it never expires"
            ),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(
        expired.code().and_then(|code| code.known()),
        Some(&ErrorCode::EventCursorExpired)
    );
    assert!(!expired.is_retryable());
    let again = client.events(MemoryCursor::at(early)).wait(Duration::ZERO);
    let mut again = again.begin_again_when_expired();
    let event = again.next().await.unwrap();
    assert!(event.is_ok(), "{event:?}");
}

/// Fails at its first save.
#[derive(Default)]
struct Failing {
    cursor: MemoryCursor,
    saves: AtomicU32,
}

impl CursorStore for Failing {
    fn load(&self) -> CursorResult<'_, Option<String>> {
        self.cursor.load()
    }

    fn save(&self, cursor: String) -> CursorResult<'_, ()> {
        if self.saves.fetch_add(1, Ordering::SeqCst) == 0 {
            return Box::pin(async { Err("the disk is full".into()) });
        }
        self.cursor.save(cursor)
    }
}

#[tokio::test]
async fn a_cursor_that_cannot_be_saved_is_an_error_and_nothing_is_skipped() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    for n in 0..2 {
        client
            .create(&offer(&server, &format!("NF-{n}")))
            .await
            .unwrap();
    }
    let mut events = client
        .events(Failing::default())
        .limit(1)
        .wait(Duration::ZERO);
    assert!(events.next().await.unwrap().is_ok());
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cursor);
    assert!(events.next().await.unwrap().is_ok());
    assert!(events.next().await.is_none());
}
