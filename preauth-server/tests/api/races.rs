//! Concurrent callers over HTTP.

use std::collections::BTreeMap;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{Answer, Backend, Sandbox, offer_body, on_each_database};
use tokio::task::JoinSet;

on_each_database! {
    a_hundred_requests_with_one_key_make_one_operation,
    a_hundred_offers_of_one_invoice_make_one_operation_and_99_duplicates,
    fifty_cancels_racing_the_supplier_have_one_outcome_and_one_event,
}

async fn all<F>(requests: impl Iterator<Item = F>) -> Vec<Answer>
where
    F: Future<Output = Answer> + Send + 'static,
{
    let mut tasks: JoinSet<Answer> = requests.collect();
    let mut answers = Vec::new();
    while let Some(answer) = tasks.join_next().await {
        answers.push(answer.unwrap());
    }
    answers
}

fn counted(answers: &[Answer]) -> BTreeMap<(u16, String), usize> {
    let mut counts = BTreeMap::new();
    for answer in answers {
        *counts.entry(answer.refusal()).or_default() += 1;
    }
    counts
}

// Contract: create-call/still-processed
async fn a_hundred_requests_with_one_key_make_one_operation(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "NF-1").to_string();
    let answers = all((0..100).map(|_| {
        let (caller, body) = (caller.clone(), body.clone());
        async move {
            let key = [("idempotency-key", "pedido-0001")];
            caller.post_text(PRE_AUTHORIZATIONS, &key, body).await
        }
    }))
    .await;
    let created: Vec<_> = answers
        .iter()
        .filter(|answer| answer.status == 201)
        .collect();
    assert!(!created.is_empty());
    assert!(created.iter().all(|answer| answer.text == created[0].text));
    let first = created
        .iter()
        .filter(|answer| answer.header("idempotency-replayed").is_empty());
    assert_eq!(first.count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(
            answer.refusal(),
            (409, "IDEMPOTENCY_IN_PROGRESS".to_owned())
        );
        assert_eq!(answer.header("retry-after"), "1");
    }
    let list = caller.get(PRE_AUTHORIZATIONS).await.json();
    assert_eq!(list["pagination"]["total"], 1);
}

// Contract: duplicate/refused
async fn a_hundred_offers_of_one_invoice_make_one_operation_and_99_duplicates(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "NF-1").to_string();
    let answers = all((0..100).map(|index| {
        let (caller, body) = (caller.clone(), body.clone());
        async move {
            let key = format!("pedido-{index:04}");
            caller
                .post_text(PRE_AUTHORIZATIONS, &[("idempotency-key", &key)], body)
                .await
        }
    }))
    .await;
    let duplicate = (409, "PRE_AUTH_DUPLICATE_INVOICE".to_owned());
    assert_eq!(
        counted(&answers),
        BTreeMap::from([((201, String::new()), 1), (duplicate.clone(), 99)])
    );
    let id = answers
        .iter()
        .find(|answer| answer.status == 201)
        .unwrap()
        .json()["id"]
        .clone();
    for answer in answers
        .iter()
        .filter(|answer| answer.refusal() == duplicate)
    {
        assert_eq!(answer.json()["details"][0]["anticipationId"], id);
    }
}

// Contract: transition/cancel-overtaken cancel-call/409 error-code/ANTICIPATION_INVALID_TRANSITION
async fn fifty_cancels_racing_the_supplier_have_one_outcome_and_one_event(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "NF-1");
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &body).await.status,
        201
    );
    let (cancel, request) = (
        format!("{PRE_AUTHORIZATIONS}/1/cancel"),
        "/api/platform/v1/operations/1/request".to_owned(),
    );
    let platform = sandbox.platform();
    let answers = all((0..51).map(|index| {
        let is_request = index == 25;
        let caller = if is_request {
            platform.clone()
        } else {
            caller.clone()
        };
        let path = if is_request {
            request.clone()
        } else {
            cancel.clone()
        };
        async move { caller.post(&path).await }
    }))
    .await;
    let found = sandbox
        .platform()
        .get("/api/platform/v1/operations/1")
        .await
        .json();
    let events: Vec<_> = found["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(events.len(), 2, "{events:?}");
    let counts = counted(&answers);
    let race = (409, "ANTICIPATION_INVALID_TRANSITION".to_owned());
    if found["status"] == "REPROVED" {
        assert_eq!(events[1], "pre_authorization.revoked");
        assert!(!counts.contains_key(&(200, String::new())), "{counts:?}");
        assert!(
            counts
                .keys()
                .all(|key| *key == (201, String::new()) || *key == race),
            "{counts:?}"
        );
    } else {
        assert_eq!(
            (&found["status"], events[1].as_str()),
            (&"TO_APPROVE".into(), "anticipation.requested")
        );
        let late = (422, "PRE_AUTH_ALREADY_REQUESTED".to_owned());
        let expected = [(200, String::new()), race, late];
        assert!(
            counts.keys().all(|key| expected.contains(key)),
            "{counts:?}"
        );
    }
}
