use preauth_client::value::{OperationId, Status};
use preauth_client::{Call, Ensured, ErrorCode};
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

use crate::{answering, client, offer, operation, refusal, requests, success};

#[tokio::test]
async fn a_new_offer_a_repeated_one_and_an_older_one_are_distinguished() {
    let server = MockServer::start().await;
    answering(&server, success(201), Some(1)).await;
    let replay = success(201).insert_header("idempotency-replayed", "true");
    answering(&server, replay, Some(2)).await;
    let duplicate = json!({
        "errors": [{"code": "PRE_AUTH_DUPLICATE_INVOICE", "message": "Já existe."}],
        "details": [{"anticipationId": 977}]
    });
    let duplicate = ResponseTemplate::new(409)
        .set_body_json(duplicate)
        .insert_header("x-request-id", "0197f3c2");
    answering(&server, duplicate, Some(1)).await;
    let mut older = operation("TO_APPROVE");
    older["id"] = json!(977);
    let older = ResponseTemplate::new(200).set_body_json(older);
    answering(&server, older, None).await;

    let client = client(&server);
    let first = client.create_or_get(&offer()).await.unwrap();
    assert!(matches!(first, Ensured::Created(_)), "{first:?}");
    assert_eq!(first.id().get(), 1042);
    // Under a key that was drawn for the call nobody else created anything: an answer of it was lost.
    let after_a_loss = client.create_or_get(&offer()).await.unwrap();
    assert!(
        matches!(after_a_loss, Ensured::Created(_)),
        "{after_a_loss:?}"
    );
    let keyed = offer().idempotency_key("pedido-4711:1".parse().unwrap());
    let again = client.create_or_get(&keyed).await.unwrap();
    assert!(matches!(again, Ensured::Replayed(_)), "{again:?}");

    let Ensured::AlreadyExists(older) = client.create_or_get(&offer()).await.unwrap() else {
        panic!("the duplicate is an operation that exists already")
    };
    assert_eq!(older.id, OperationId::new(977).unwrap());
    assert_eq!(older.status, Status::ToApprove);
    let read = requests(&server).await.pop().unwrap();
    assert_eq!(read.method.as_str(), "GET");
    assert!(read.url.path().ends_with("/pre-authorizations/977"));
}

#[tokio::test]
async fn a_duplicate_that_cannot_be_read_is_still_named() {
    let server = MockServer::start().await;
    let duplicate = json!({
        "errors": [{"code": "PRE_AUTH_DUPLICATE_INVOICE", "message": "Já existe."}],
        "details": [{"anticipationId": 977}]
    });
    let duplicate = ResponseTemplate::new(409).set_body_json(duplicate);
    answering(&server, duplicate, Some(1)).await;
    answering(&server, refusal(503, "SERVICE_UNAVAILABLE"), None).await;

    let error = client(&server).create_or_get(&offer()).await.unwrap_err();
    assert_eq!(error.call(), Some(Call::Get));
    assert_eq!(error.existing_operation_id(), OperationId::new(977));
    assert!(error.idempotency_key().is_some());
    assert!(
        error.to_string().contains("[existing operation 977]"),
        "{error}"
    );
}

#[tokio::test]
async fn every_other_refusal_stays_an_error() {
    let server = MockServer::start().await;
    answering(&server, refusal(409, "PRE_AUTH_DUPLICATE_INVOICE"), Some(1)).await;
    answering(&server, refusal(422, "PRE_AUTH_SUPPLIER_BLOCKED"), None).await;
    let client = client(&server);
    // A duplicate that does not name the other operation cannot be looked at.
    for code in [
        ErrorCode::PreAuthDuplicateInvoice,
        ErrorCode::PreAuthSupplierBlocked,
    ] {
        let error = client.create_or_get(&offer()).await.unwrap_err();
        assert_eq!(error.code().and_then(|known| known.known()), Some(&code));
        assert!(error.idempotency_key().is_some());
        assert!(error.raw().is_some());
    }
}
