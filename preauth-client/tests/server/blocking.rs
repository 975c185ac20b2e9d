use std::collections::BTreeSet;
use std::time::Duration;

use preauth_client::blocking::{Client, Events};
use preauth_client::value::EventType;
use preauth_client::{ErrorCode, ListFilter, MemoryCursor, RetryPolicy};
use preauth_server::testing::TestServer;

use crate::offer;

#[test]
fn a_program_without_a_runtime_has_the_same_service() {
    let server = TestServer::start().unwrap();
    let client = Client::new(server.base_url(), server.api_key()).unwrap();
    let mut ids: Vec<_> = ["NF-1", "NF-2", "NF-3"]
        .map(|number| client.create(&offer(&server, number)).unwrap().id)
        .into();
    ids.reverse();
    let all = client.list_all(&ListFilter::new());
    let listed: Vec<_> = all.map(|operation| operation.unwrap().id).collect();
    assert_eq!(listed, ids);
}

#[test]
fn a_program_without_a_runtime_offers_many() {
    let server = TestServer::start().unwrap();
    let client = Client::new(server.base_url(), server.api_key()).unwrap();
    let all: Vec<_> = (0..120)
        .map(|number| offer(&server, &format!("NF-{number}")))
        .collect();
    assert!(client.validate(&all[0]).unwrap().valid);
    let mut many = client.create_many(all).unwrap();
    let made = many
        .by_ref()
        .filter(|outcome| outcome.as_ref().unwrap().result.is_ok());
    assert_eq!(made.count(), 120);
    assert_eq!(many.progress().created, 120);
}

/// The types of the events, until there are no more.
fn types(events: Events) -> Vec<EventType> {
    let types = events.map(|event| event.unwrap().event_type.known().copied().unwrap());
    types.collect()
}

#[test]
fn a_program_without_a_runtime_reads_events() {
    const CREATED: EventType = EventType::PreAuthorizationCreated;
    const REVOKED: EventType = EventType::PreAuthorizationRevoked;
    let server = TestServer::start().unwrap();
    let client = Client::new(server.base_url(), server.api_key()).unwrap();
    for number in ["NF-1", "NF-2", "NF-3"] {
        let made = client.create(&offer(&server, number)).unwrap();
        client.cancel(made.id).unwrap();
    }
    let reader = |cursor: &MemoryCursor| client.events(cursor.clone()).wait(Duration::ZERO);
    let all = types(reader(&MemoryCursor::new()));
    assert_eq!(all, [CREATED, REVOKED].repeat(3));
    let of_one = reader(&MemoryCursor::new()).types([REVOKED]).limit(2);
    assert_eq!(types(of_one), [REVOKED; 3]);

    // The second answer was not handled when the program ended.
    let cursor = MemoryCursor::new();
    let mut killed = reader(&cursor).limit(2);
    assert_eq!(killed.by_ref().take(3).count(), 3);
    drop(killed);
    assert_eq!(types(reader(&cursor)), [CREATED, REVOKED].repeat(2));
    assert_eq!(types(reader(&cursor)), []);
}

#[test]
fn a_cursor_that_is_refused_ends_the_events() {
    let server = TestServer::start().unwrap();
    let client = Client::new(server.base_url(), server.api_key()).unwrap();
    let mut events = client.events(MemoryCursor::at("not-a-cursor"));
    let error = events.next().unwrap().unwrap_err();
    let code = error.code().and_then(|code| code.known());
    assert_eq!(code, Some(&ErrorCode::ValidationError));
    assert!(events.next().is_none());
}

#[test]
fn offers_without_an_outcome_come_back_after_an_error_and_are_made_once() {
    let server = TestServer::start().unwrap();
    let once = Client::builder(server.base_url(), server.api_key()).retry(RetryPolicy::never());
    let client = once.build_blocking().unwrap();
    // The first one's number refuses its batch; the others have no keys of their own.
    let refused = offer(&server, "sandbox:RATE_LIMITED");
    let all = (1..120).map(|number| offer(&server, &format!("NF-{number}")));
    let mut many = client
        .create_many(std::iter::once(refused).chain(all))
        .unwrap();
    let mut made = 0;
    let error = loop {
        match many.next().unwrap() {
            Ok(outcome) => {
                outcome.result.unwrap();
                made += 1;
            }
            Err(error) => break error,
        }
    };
    assert!(error.is_retryable(), "{error}");
    assert_eq!(many.progress().created, made);
    // In their order; those that were on their way may have been made.
    let left = many.into_unsettled();
    assert_eq!(left.len(), 120 - made);
    // The service may still be at work on those: this client asks again.
    let patient = Client::builder(server.base_url(), server.api_key());
    let patient = patient.build_blocking().unwrap();
    let mut again = patient.create_many(left.into_iter().skip(1)).unwrap();
    let outcomes: Vec<_> = again.by_ref().map(Result::unwrap).collect();
    let ids: BTreeSet<_> = outcomes
        .iter()
        .map(|outcome| outcome.result.as_ref().unwrap().operation.id)
        .collect();
    assert_eq!(ids.len(), 119 - made);
    let total = client.list(&ListFilter::new().limit(1)).unwrap();
    assert_eq!(total.pagination.total, 119);
}
