use preauth_client::ErrorCode;
use preauth_client::ErrorKind;
use preauth_client::value::OperationId;
use preauth_client::wire::Open;
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

use crate::{answering, client, id, offer, refusal};

#[tokio::test]
async fn a_validation_error_has_every_problem_with_its_field() {
    let server = MockServer::start().await;
    let body = json!({
        "errors": [
            {"code": "VALIDATION_ERROR", "message": "O CNPJ é inválido."},
            {"code": "VALIDATION_ERROR", "message": "O JSON é inválido."}
        ],
        "details": [{"field": "supplier.cnpj"}, {}]
    });
    let answer = ResponseTemplate::new(400)
        .set_body_json(body)
        .insert_header("x-request-id", "0197f3c2");
    answering(&server, answer, None).await;
    let offer = offer().idempotency_key("erp:NF-1".parse().unwrap());
    let error = client(&server).create(&offer).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Api);
    assert_eq!(error.status(), Some(400));
    assert_eq!(error.code(), Some(&Open::Known(ErrorCode::ValidationError)));
    assert_eq!(error.message(), Some("O CNPJ é inválido."));
    let fields: Vec<_> = error.problems().map(|problem| problem.field).collect();
    assert_eq!(fields, [Some("supplier.cnpj"), None]);
    assert_eq!(
        error.to_string(),
        "the service refused (status 400): VALIDATION_ERROR supplier.cnpj \"O CNPJ é inválido.\"; \
         VALIDATION_ERROR \"O JSON é inválido.\" [create, idempotency key erp:NF-1] \
         [request id 0197f3c2]"
    );
}

#[tokio::test]
async fn a_duplicate_names_the_operation_that_exists() {
    let server = MockServer::start().await;
    let body = json!({
        "errors": [{"code": "PRE_AUTH_DUPLICATE_INVOICE", "message": "Já existe."}],
        "details": [{"anticipationId": 977}]
    });
    let answer = ResponseTemplate::new(409).set_body_json(body);
    answering(&server, answer, None).await;
    let error = client(&server).create(&offer()).await.unwrap_err();
    assert_eq!(error.existing_operation_id(), OperationId::new(977));
    assert!(
        error.to_string().ends_with("[existing operation 977]"),
        "{error}"
    );
}

#[tokio::test]
async fn an_id_in_the_details_of_another_error_is_no_duplicate() {
    let server = MockServer::start().await;
    let body = json!({
        "errors": [{"code": "PRE_AUTH_SUPPLIER_BLOCKED", "message": "x"}],
        "details": [{"anticipationId": 977}]
    });
    let answer = ResponseTemplate::new(422).set_body_json(body);
    answering(&server, answer, None).await;
    let error = client(&server).create(&offer()).await.unwrap_err();
    assert_eq!(error.existing_operation_id(), None);
}

// Contract: version/tolerance
#[tokio::test]
async fn a_code_that_is_newer_than_the_client_keeps_its_text() {
    let server = MockServer::start().await;
    answering(&server, refusal(422, "SUPPLIER_ON_STRIKE"), None).await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Api);
    assert_eq!(error.code().unwrap().as_str(), "SUPPLIER_ON_STRIKE");
}

#[tokio::test]
async fn a_refusal_has_what_is_left_of_the_limit() {
    let server = MockServer::start().await;
    let answer = refusal(404, "ANTICIPATION_NOT_FOUND")
        .insert_header("x-ratelimit-limit", "120")
        .insert_header("x-ratelimit-remaining", "3")
        .insert_header("x-ratelimit-reset", "9");
    answering(&server, answer, None).await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert_eq!(error.rate_limit().unwrap().remaining(), 3);
}

#[tokio::test]
async fn however_many_problems_with_whatever_texts_make_one_line() {
    let server = MockServer::start().await;
    let item = json!({"code": "A\nB", "message": "line\nbreak"});
    let body = json!({"errors": vec![item; 9], "details": [{"field": "a\nb"}]});
    let answer = ResponseTemplate::new(400).set_body_json(body);
    answering(&server, answer, None).await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert_eq!(error.problems().count(), 9);
    assert!(
        error.to_string().ends_with("; and 4 more [get 1042]"),
        "{error}"
    );
    assert!(!error.to_string().contains('\n'));
}
