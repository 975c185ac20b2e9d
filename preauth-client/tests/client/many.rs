//! Batches against a service that fails between them and within them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use preauth_client::{
    Call, Client, CreateMany, Error, ErrorKind, FileType, InvoiceFile, ManyOutcome,
    NewPreAuthorization, RetryPolicy,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use wiremock::matchers::{any, header_regex};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::broken_connections::listener;
use crate::skipped::Skipped;
use crate::{KEY, client, offer, operation, quick, refusal, requests};

/// What becomes of one batch.
enum Fate {
    /// It is carried out and answered.
    Answered,
    /// It is refused as a whole.
    Refused(ResponseTemplate),
    /// So many of its items are carried out, and then this is answered.
    Lost(usize, ResponseTemplate),
    /// It is carried out, and the answer passes through this.
    Changed(fn(&mut Vec<Value>)),
}

/// A service that keeps operations by their keys.
#[derive(Clone, Default)]
struct Service {
    fates: Arc<Mutex<VecDeque<Fate>>>,
    made: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Service {
    fn carry_out(&self, index: usize, item: &Value) -> Value {
        let mut made = self.made.lock().unwrap();
        let key = item["idempotencyKey"].as_str().unwrap().to_owned();
        let is_replayed = made.contains_key(&key);
        let next = made.len().saturating_add(1);
        let id = *made.entry(key).or_insert(next);
        let mut created = operation("IN_PRE_AUTH");
        created["id"] = json!(id);
        json!({"index": index, "status": 201, "replayed": is_replayed, "preAuthorization": created})
    }

    fn made(&self) -> usize {
        self.made.lock().unwrap().len()
    }
}

impl Respond for Service {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let fate = self.fates.lock().unwrap().pop_front();
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let items = body["items"].as_array().unwrap();
        let carried_out = |count: usize| -> Vec<Value> {
            let first = items.iter().take(count).enumerate();
            first
                .map(|(index, item)| self.carry_out(index, item))
                .collect()
        };
        let answer = |results: Vec<Value>| {
            ResponseTemplate::new(200).set_body_json(json!({"results": results}))
        };
        match fate.unwrap_or(Fate::Answered) {
            Fate::Answered => answer(carried_out(items.len())),
            Fate::Refused(refusal) => refusal,
            Fate::Lost(count, instead) => {
                carried_out(count);
                instead
            }
            Fate::Changed(change) => {
                let mut results = carried_out(items.len());
                change(&mut results);
                answer(results)
            }
        }
    }
}

async fn service(fates: impl IntoIterator<Item = Fate>) -> (MockServer, Service) {
    let server = MockServer::start().await;
    let service = Service {
        fates: Arc::new(Mutex::new(fates.into_iter().collect())),
        ..Service::default()
    };
    let mock = Mock::given(any()).respond_with(service.clone());
    mock.mount(&server).await;
    (server, service)
}

fn offers(count: usize) -> Vec<NewPreAuthorization> {
    let keyed =
        (0..count).map(|n| offer().idempotency_key(format!("order-key-{n}").parse().unwrap()));
    keyed.collect()
}

async fn all(many: &mut CreateMany) -> (Vec<ManyOutcome>, Vec<Error>) {
    let (mut outcomes, mut errors) = (Vec::new(), Vec::new());
    while let Some(outcome) = many.next().await {
        match outcome {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => errors.push(error),
        }
        assert!(errors.len() < 100, "without end");
    }
    outcomes.sort_by_key(|outcome| outcome.index);
    (outcomes, errors)
}

/// Each offer has one outcome, an operation of its own.
fn assert_complete(outcomes: &[ManyOutcome], count: usize) {
    let places = outcomes.iter().map(|outcome| outcome.index);
    assert!(places.eq(0..count));
    let ids = outcomes.iter().map(|outcome| {
        let created = outcome.result.as_ref().unwrap();
        created.operation.id
    });
    assert_eq!(ids.collect::<BTreeSet<_>>().len(), count);
}

#[tokio::test]
async fn a_limit_between_two_batches_is_waited_for() {
    let limited = refusal(429, "RATE_LIMITED").insert_header("retry-after", "42");
    let (server, service) = service([Fate::Answered, Fate::Refused(limited)]).await;
    let skipped = Skipped::half();
    let client = Client::builder(server.uri(), KEY).timing(Arc::clone(&skipped));
    let mut many = client.build().unwrap().create_many(offers(250)).unwrap();
    let (outcomes, errors) = all(&mut many).await;
    assert!(errors.is_empty(), "{errors:?}");
    assert_complete(&outcomes, 250);
    assert_eq!(skipped.waits_ms(), [42_100]);
    assert_eq!((service.made(), many.progress().created), (250, 250));
    assert_eq!(requests(&server).await.len(), 4);
}

#[tokio::test]
async fn an_answer_that_is_lost_after_half_is_completed_and_nothing_is_doubled() {
    for lost in [
        ResponseTemplate::new(502).set_body_string("<html>"),
        ResponseTemplate::new(504),
        refusal(500, "INTERNAL_ERROR"),
        ResponseTemplate::new(200).set_delay(Duration::from_secs(30)),
    ] {
        let (server, service) = service([Fate::Lost(50, lost)]).await;
        let client = quick(&server.uri()).attempt_timeout(Duration::from_secs(2));
        let mut many = client.build().unwrap().create_many(offers(100)).unwrap();
        let (outcomes, errors) = all(&mut many).await;
        assert!(errors.is_empty(), "{errors:?}");
        assert_complete(&outcomes, 100);
        let progress = many.progress();
        assert_eq!((progress.created, progress.replayed), (50, 50));
        assert_eq!(service.made(), 100);
    }
}

#[tokio::test]
async fn a_batch_that_stays_unanswered_is_kept_and_the_others_go_on() {
    let refused = || Fate::Refused(refusal(503, "SERVICE_UNAVAILABLE"));
    // The attempts of two batches that are on their way at once.
    let (server, service) = service(std::iter::repeat_with(refused).take(6)).await;
    let mut many = client(&server).create_many(offers(250)).unwrap();
    let (outcomes, errors) = all(&mut many).await;
    assert_complete(&outcomes, 250);
    assert!((1..=2).contains(&errors.len()), "{errors:?}");
    assert!(errors.iter().all(Error::is_retryable));
    assert_eq!(service.made(), 250);
}

#[tokio::test]
async fn results_count_by_their_index_and_what_is_left_out_is_sent_again() {
    let changes: [fn(&mut Vec<Value>); 4] = [
        |results| results.reverse(),
        |results| results.truncate(3),
        |results| results[4]["index"] = json!(1_000_000),
        |results| {
            results[0]["later"] = json!([1]);
            results[0]["preAuthorization"]["status"] = json!("NEWER_THAN_THIS");
        },
    ];
    for change in changes {
        let (server, service) = service([Fate::Changed(change)]).await;
        let mut many = client(&server).create_many(offers(10)).unwrap();
        let (outcomes, errors) = all(&mut many).await;
        assert!(errors.is_empty(), "{errors:?}");
        assert_complete(&outcomes, 10);
        for outcome in &outcomes {
            // Its own operation, wherever it stood.
            let id = outcome.result.as_ref().unwrap().operation.id;
            let expected = service.made.lock().unwrap()[outcome.idempotency_key.as_str()];
            assert_eq!(id.get(), i64::try_from(expected).unwrap());
        }
        assert_eq!(service.made(), 10);
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_it_and_returns_every_offer() {
    for body in [r#"{"results":[{"index":0"#, "[]", r#"{"results":7}"#] {
        let answer = ResponseTemplate::new(200).set_body_raw(body, "application/json");
        let (server, service) = service([Fate::Lost(10, answer)]).await;
        let mut many = client(&server).create_many(offers(10)).unwrap();
        let error = many.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnreadableSuccess, "{body}");
        assert!(many.next().await.is_none());
        // Sent again under their keys, they are there.
        let left = many.into_unsettled();
        let mut many = client(&server).create_many(left).unwrap();
        assert_complete(&all(&mut many).await.0, 10);
        assert_eq!((many.progress().replayed, service.made()), (10, 10));
    }
}

#[tokio::test]
async fn offers_that_were_on_their_way_at_a_stop_come_back_with_the_keys_they_were_sent_under() {
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_secs(30));
    let (server, service) = service([Fate::Answered, Fate::Lost(70, slow)]).await;
    // Without keys of their own.
    let drawn: Vec<_> = std::iter::repeat_with(offer).take(200).collect();
    let mut many = client(&server).create_many(drawn).unwrap();
    for _ in 0..100 {
        many.next().await.unwrap().unwrap();
    }
    let begin = Instant::now();
    while service.made() < 170 {
        assert!(begin.elapsed() < Duration::from_secs(20));
        let next = tokio::time::timeout(Duration::from_millis(10), many.next());
        assert!(next.await.is_err());
    }
    assert_eq!(many.progress().created, 100);
    let left = many.into_unsettled();
    assert_eq!(left.len(), 100);
    let mut many = client(&server).create_many(left).unwrap();
    assert_complete(&all(&mut many).await.0, 100);
    assert_eq!((many.progress().replayed, service.made()), (70, 200));
}

/// The second item is refused for itself; then the key is refused, before the others are carried out.
fn refuse_the_key(results: &mut [Value], status: u16, code: &str) {
    for (index, result) in results.iter_mut().enumerate().skip(1) {
        let (status, code) = match index {
            1 => (422, "PRE_AUTH_SUPPLIER_BLOCKED"),
            _ => (status, code),
        };
        let errors = json!([{"code": code, "message": "Uma frase."}]);
        *result = json!({"index": index, "status": status, "errors": errors});
    }
}

#[tokio::test]
async fn a_key_that_is_refused_in_the_middle_of_a_batch_is_no_outcome_of_an_offer() {
    let changes: [fn(&mut Vec<Value>); 2] = [
        |results| refuse_the_key(results, 401, "API_KEY_REVOKED"),
        |results| refuse_the_key(results, 403, "RBAC_FORBIDDEN"),
    ];
    for (change, status) in changes.into_iter().zip([401, 403]) {
        let (server, service) = service([Fate::Changed(change)]).await;
        let mut many = client(&server).create_many(offers(5)).unwrap();
        let created = many.next().await.unwrap().unwrap();
        assert!(created.result.is_ok());
        let blocked = many.next().await.unwrap().unwrap();
        assert_eq!(blocked.result.unwrap_err().status(), Some(422));
        let error = many.next().await.unwrap().unwrap_err();
        assert_eq!(error.status(), Some(status));
        // Of the batch, not of one offer.
        assert_eq!(error.call(), Some(Call::CreateMany));
        assert_eq!(error.idempotency_key(), None);
        assert!(!error.is_retryable());
        assert!(many.next().await.is_none());
        let progress = many.progress();
        assert_eq!((progress.created, progress.failed), (1, 1));
        assert_eq!(requests(&server).await.len(), 1);
        // With another key, they are offered under theirs.
        let left = many.into_unsettled();
        let mut many = client(&server).create_many(left).unwrap();
        let (outcomes, _) = all(&mut many).await;
        assert_complete(&outcomes, 3);
        let keys = outcomes.iter().map(|it| it.idempotency_key.as_str());
        assert!(keys.eq(["order-key-2", "order-key-3", "order-key-4"]));
        assert_eq!(service.made(), 5);
    }
}

/// Offers of which the one at `place` has a file.
fn offers_with_a_file(count: usize, place: usize) -> Vec<NewPreAuthorization> {
    let mut offers = offers(count);
    let file = InvoiceFile::from_bytes("nota.pdf", FileType::Pdf, b"%PDF-1.7".to_vec());
    offers[place] = offers[place].clone().file(file.unwrap());
    offers
}

/// Answers uploads with this and everything else as the service does.
async fn answering_uploads(server: &MockServer, answer: ResponseTemplate) {
    let is_upload = header_regex("content-type", "^multipart/form-data");
    let mock = Mock::given(is_upload).respond_with(answer);
    mock.with_priority(1).mount(server).await;
}

#[tokio::test]
async fn an_offer_whose_file_is_never_taken_is_given_up_after_all_attempts() {
    let (server, service) = service([]).await;
    answering_uploads(&server, refusal(503, "SERVICE_UNAVAILABLE")).await;
    let all_offers = offers_with_a_file(5, 2);
    let mut many = client(&server).create_many(all_offers.clone()).unwrap();
    let (outcomes, errors) = all(&mut many).await;
    // Three attempts of a call, three times: the first two are no outcome yet.
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(Error::is_retryable));
    let places: Vec<_> = outcomes.iter().map(|outcome| outcome.index).collect();
    assert_eq!(places, [0, 1, 2, 3, 4]);
    let given_up: Vec<_> = outcomes.iter().filter(|it| it.result.is_err()).collect();
    assert_eq!(given_up.len(), 1);
    assert_eq!(given_up[0].idempotency_key.as_str(), "order-key-2");
    let error = given_up[0].result.as_ref().unwrap_err();
    assert_eq!((error.status(), given_up[0].index), (Some(503), 2));
    let progress = many.progress();
    assert_eq!((progress.created, progress.failed), (4, 1));
    assert!(many.into_unsettled().is_empty());
    assert_eq!(service.made(), 4);
    let uploads = requests(&server).await;
    let uploads = uploads.iter().filter(|it| {
        !it.headers["content-type"]
            .to_str()
            .unwrap()
            .ends_with("json")
    });
    assert_eq!(uploads.count(), 9);

    // Without any other attempt, the first failure is the last.
    let once = quick(&server.uri()).retry(RetryPolicy::never());
    let mut many = once.build().unwrap().create_many(all_offers).unwrap();
    let (outcomes, errors) = all(&mut many).await;
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!((outcomes.len(), many.progress().failed), (5, 1));
}

#[tokio::test]
async fn an_offer_with_a_file_is_kept_while_the_service_says_when_to_come_again() {
    // More often than a call, or an offer with a file, has attempts.
    const TIMES: u64 = 5;
    for (status, code) in [(429, "RATE_LIMITED"), (503, "SERVICE_UNAVAILABLE")] {
        let (server, _) = service([]).await;
        let is_upload = || Mock::given(header_regex("content-type", "^multipart/form-data"));
        // Longer than the budget of a call, which has one attempt then.
        let refused = refusal(status, code).insert_header("retry-after", "42");
        let refused = is_upload().respond_with(refused).up_to_n_times(TIMES);
        refused.with_priority(1).mount(&server).await;
        let taken = is_upload().respond_with(crate::success(201));
        taken.with_priority(2).mount(&server).await;
        let skipped = Skipped::half();
        let client = quick(&server.uri()).timing(Arc::clone(&skipped));
        let mut many = client
            .build()
            .unwrap()
            .create_many(offers_with_a_file(1, 0))
            .unwrap();
        let (outcomes, errors) = all(&mut many).await;
        assert_eq!(errors.len(), 5, "{errors:?}");
        assert!(errors.iter().all(|error| error.status() == Some(status)));
        assert!(outcomes[0].result.is_ok());
        assert_eq!(skipped.waits_ms(), [42_000; 5]);
        assert_eq!(requests(&server).await.len(), 6);
    }
}

#[tokio::test]
async fn an_offer_with_a_file_is_kept_while_nobody_answers() {
    let (listener, url) = listener().await;
    drop(listener);
    let client = quick(&url).build().unwrap();
    let mut many = client.create_many(offers_with_a_file(1, 0)).unwrap();
    for _ in 0..5 {
        let error = many.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect);
    }
    assert_eq!(many.progress().failed, 0);
    assert_eq!(many.into_unsettled().len(), 1);
}

#[tokio::test]
async fn a_file_that_is_taken_later_is_offered_once() {
    let (server, _) = service([]).await;
    let is_upload = || Mock::given(header_regex("content-type", "^multipart/form-data"));
    // All attempts of the first call.
    let busy = is_upload().respond_with(refusal(503, "SERVICE_UNAVAILABLE"));
    busy.up_to_n_times(3).with_priority(1).mount(&server).await;
    let taken = is_upload().respond_with(crate::success(201));
    taken.with_priority(2).mount(&server).await;
    let mut many = client(&server)
        .create_many(offers_with_a_file(1, 0))
        .unwrap();
    let (outcomes, errors) = all(&mut many).await;
    assert_eq!((outcomes.len(), errors.len()), (1, 1));
    assert!(outcomes[0].result.is_ok());
    let sent = requests(&server).await;
    let keys: BTreeSet<_> = sent
        .iter()
        .map(|it| it.headers["idempotency-key"].to_str().unwrap())
        .collect();
    assert_eq!((sent.len(), keys), (4, BTreeSet::from(["order-key-0"])));
}

#[tokio::test]
async fn a_revoked_key_is_no_outcome_of_an_offer_with_a_file() {
    let (server, _) = service([]).await;
    answering_uploads(&server, refusal(401, "API_KEY_REVOKED")).await;
    let mut many = client(&server)
        .create_many(offers_with_a_file(1, 0))
        .unwrap();
    let error = many.next().await.unwrap().unwrap_err();
    assert_eq!(error.status(), Some(401));
    assert!(many.next().await.is_none());
    assert_eq!(many.into_unsettled().len(), 1);
}
