use preauth_client::ListFilter;
use preauth_client::value::{IdempotencyKey, Money};
use serde_json::{Value, json};
use wiremock::{MockServer, ResponseTemplate};

use crate::{KEY, answering, client, id, offer, quick, refusal, requests, success};

#[tokio::test]
async fn a_create_is_one_post_with_key_type_and_body() {
    let server = MockServer::start().await;
    answering(&server, success(201), None).await;
    let created = client(&server).create(&offer()).await.unwrap();
    assert_eq!(created.id.get(), 1042);
    assert_eq!(created.invoice.amount.money().cents(), 123_456);

    let [request] = &requests(&server).await[..] else {
        unreachable!("one request was sent")
    };
    assert_eq!(request.method, "POST");
    assert_eq!(request.url.path(), "/api/integration/v1/pre-authorizations");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request.headers["content-type"], "application/json");
    let body: Value = request.body_json().unwrap();
    let expected = json!({
        "supplier": {"cnpj": "12ABC34501DE35", "email": "financeiro@fornecedor.example.com"},
        "invoice": {"amount": 1234.56, "dueDate": "2026-12-21", "number": "NF-1"}
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn everything_optional_is_sent_when_given() {
    let server = MockServer::start().await;
    answering(&server, success(201), None).await;
    let offer = offer()
        .supplier_name("Fornecedor Exemplo Ltda.".parse().unwrap())
        .contact_name("Maria Souza".parse().unwrap())
        .phone("+55 11 4000-0000".parse().unwrap())
        .withheld_tax(Money::parse("10.50").unwrap())
        .external_reference("PED-2026/0042".parse().unwrap());
    client(&server).create(&offer).await.unwrap();

    let body: Value = requests(&server).await[0].body_json().unwrap();
    assert_eq!(body["supplier"]["name"], "Fornecedor Exemplo Ltda.");
    assert_eq!(body["supplier"]["contactName"], "Maria Souza");
    assert_eq!(body["supplier"]["phone"], "+55 11 4000-0000");
    assert_eq!(body["invoice"]["withheldTaxAmount"], 10.5);
    assert_eq!(body["externalReference"], "PED-2026/0042");
}

#[tokio::test]
async fn every_call_without_a_key_draws_its_own_and_returns_it() {
    let server = MockServer::start().await;
    answering(&server, success(201), None).await;
    let client = client(&server);
    for _ in 0..2 {
        let created = client.create(&offer()).await.unwrap();
        let drawn = created.idempotency_key().unwrap();
        let sent = requests(&server).await.pop().unwrap();
        assert_eq!(sent.headers["idempotency-key"], drawn.as_str());
    }
    let sent = requests(&server).await;
    assert_ne!(
        sent[0].headers["idempotency-key"],
        sent[1].headers["idempotency-key"]
    );
}

#[tokio::test]
async fn every_attempt_of_a_call_carries_the_same_key_and_the_same_bytes() {
    let server = MockServer::start().await;
    answering(&server, refusal(503, "SERVICE_UNAVAILABLE"), Some(2)).await;
    answering(&server, success(201), None).await;
    let created = client(&server).create(&offer()).await.unwrap();
    assert_eq!(created.attempts(), 3);

    let sent = requests(&server).await;
    assert_eq!(sent.len(), 3);
    for request in &sent {
        assert_eq!(
            request.headers["idempotency-key"],
            sent[0].headers["idempotency-key"]
        );
        assert_eq!(request.body, sent[0].body);
    }
}

#[tokio::test]
async fn the_key_of_the_caller_is_sent_and_a_replay_is_marked() {
    let server = MockServer::start().await;
    let replay = success(201).insert_header("idempotency-replayed", "true");
    answering(&server, replay, None).await;
    let key = IdempotencyKey::parse("erp:order:0042").unwrap();
    let offer = offer().idempotency_key(key.clone());
    let created = client(&server).create(&offer).await.unwrap();
    assert!(created.is_replayed());
    assert_eq!(created.idempotency_key(), Some(&key));
    let sent = requests(&server).await;
    assert_eq!(sent[0].headers["idempotency-key"], "erp:order:0042");
}

#[tokio::test]
async fn a_failed_create_returns_the_key_to_try_again_with() {
    let server = MockServer::start().await;
    answering(&server, ResponseTemplate::new(502), None).await;
    let error = client(&server).create(&offer()).await.unwrap_err();
    assert!(error.is_retryable());
    let sent = requests(&server).await;
    assert_eq!(
        sent[0].headers["idempotency-key"],
        error.idempotency_key().unwrap().as_str()
    );
}

#[test]
fn a_client_is_shared_by_threads_and_so_are_its_calls() {
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    fn sent(_: impl Send) {}
    let client = quick("http://127.0.0.1:9").build().unwrap();
    shared(&client);
    sent(client.create(&offer()));
    sent(client.create_or_get(&offer()));
    sent(client.get(id()));
    sent(client.list_all(&ListFilter::new()));
    sent(client.cancel(id()));
}
