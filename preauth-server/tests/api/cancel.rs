//! Cancel: the first time, repeated, too late, and by other companies.

use preauth_client::value::{OperationId, Status};
use preauth_client::wire::path::{PRE_AUTHORIZATIONS, cancel, pre_authorization};
use serde_json::{Value, json};
use test_support::{Backend, Sandbox, offer_body, on_each_database};

on_each_database! {
    cancelling_again_answers_the_same_and_records_nothing,
    a_requested_offer_cannot_be_cancelled,
    a_declined_or_withdrawn_offer_cannot_be_cancelled,
    a_direct_advance_counts_as_requested_and_is_listed,
    a_branch_does_not_see_what_belongs_to_its_head_office,
}

async fn offer(sandbox: &Sandbox, number: &str) -> OperationId {
    let body = offer_body(sandbox, number);
    let answer = sandbox
        .caller("apiKey")
        .post_json(PRE_AUTHORIZATIONS, &body)
        .await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    OperationId::new(answer.json()["id"].as_i64().unwrap()).unwrap()
}

async fn act(sandbox: &Sandbox, id: OperationId, action: &str) {
    let path = format!("/api/platform/v1/operations/{id}/{action}");
    let answer = sandbox.platform().post(&path).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// The types of an operation's events, as the platform API lists them.
async fn history(sandbox: &Sandbox, id: OperationId) -> Vec<String> {
    let answer = sandbox
        .platform()
        .get(&format!("/api/platform/v1/operations/{id}"))
        .await
        .json();
    let events = answer["history"].as_array().unwrap().clone();
    events
        .iter()
        .map(|event: &Value| event["type"].as_str().unwrap().to_owned())
        .collect()
}

// Contract: operation/status status/REPROVED transition/cancel transition/cancel-again
// Contract: cancel-call/201 version/history-first-step
async fn cancelling_again_answers_the_same_and_records_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let id = offer(&sandbox, "NF-1").await;
    let client = sandbox.client();
    let first = client.cancel(id).await.unwrap();
    assert_eq!(first.status, Status::Reproved);
    let again = sandbox.caller("apiKey").post(&cancel(id)).await;
    assert_eq!(again.status, 201);
    assert_eq!(again.json()["status"], "REPROVED");
    let found = sandbox.caller("apiKey").get(&pre_authorization(id)).await;
    assert_eq!(again.text, found.text);
    assert_eq!(
        history(&sandbox, id).await,
        ["pre_authorization.created", "pre_authorization.revoked"]
    );
}

// Contract: status/TO_APPROVE transition/cancel-requested-already cancel-call/422
// Contract: error-code/PRE_AUTH_ALREADY_REQUESTED
async fn a_requested_offer_cannot_be_cancelled(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let id = offer(&sandbox, "NF-1").await;
    act(&sandbox, id, "request").await;
    let answer = sandbox.caller("apiKey").post(&cancel(id)).await;
    assert_eq!(
        answer.refusal(),
        (422, "PRE_AUTH_ALREADY_REQUESTED".to_owned())
    );
    let found = sandbox.client().get(id).await.unwrap();
    assert_eq!(found.status, Status::ToApprove);
}

// Contract: transition/cancel-closed-otherwise cancel-call/422 error-code/PRE_AUTH_ALREADY_CLOSED
async fn a_declined_or_withdrawn_offer_cannot_be_cancelled(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    for (number, action) in [("NF-1", "decline"), ("NF-2", "withdraw")] {
        let id = offer(&sandbox, number).await;
        act(&sandbox, id, action).await;
        let answer = sandbox.caller("apiKey").post(&cancel(id)).await;
        assert_eq!(
            answer.refusal(),
            (422, "PRE_AUTH_ALREADY_CLOSED".to_owned()),
            "{action}"
        );
    }
}

// Contract: transition/cancel-requested-already
async fn a_direct_advance_counts_as_requested_and_is_listed(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let platform = sandbox.platform();
    let sought = format!(
        "/api/platform/v1/companies?cnpj={}",
        sandbox.text("companyCnpj")
    );
    let head_office = platform.get(&sought).await.json()["data"][0]["id"].clone();
    let invoice = offer_body(&sandbox, "NF-1")["invoice"].clone();
    let advance = json!({
        "payerCompanyId": head_office,
        "supplierCnpj": sandbox.text("supplierCnpj"),
        "invoice": invoice,
    });
    let answer = platform
        .post_json("/api/platform/v1/operations", &advance)
        .await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let id = OperationId::new(answer.json()["id"].as_i64().unwrap()).unwrap();
    let found = sandbox.client().get(id).await.unwrap();
    assert_eq!(found.status, Status::InVerification);
    assert_eq!(found.expires_at, None);
    let refused = sandbox.caller("apiKey").post(&cancel(id)).await;
    assert_eq!(
        refused.refusal(),
        (422, "PRE_AUTH_ALREADY_REQUESTED".to_owned())
    );
}

// Contract: get-call/404 cancel-call/404 authentication/construction-company
// Contract: error-code/PRE_AUTH_ONLY_CONSTRUTORA
async fn a_branch_does_not_see_what_belongs_to_its_head_office(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let id = offer(&sandbox, "NF-1").await;
    let branch = sandbox.caller("branchApiKey");
    let absent = branch
        .get(&pre_authorization(OperationId::new(999).unwrap()))
        .await;
    let foreign = branch.get(&pre_authorization(id)).await;
    assert_eq!(
        foreign.refusal(),
        (404, "ANTICIPATION_NOT_FOUND".to_owned())
    );
    assert_eq!(foreign.text, absent.text);
    assert_eq!(branch.post(&cancel(id)).await.status, 404);
    assert_eq!(
        branch.get(PRE_AUTHORIZATIONS).await.json()["data"],
        json!([])
    );
    let body = offer_body(&sandbox, "NF-2");
    let refused = branch.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(
        refused.refusal(),
        (403, "PRE_AUTH_ONLY_CONSTRUTORA".to_owned())
    );
}
