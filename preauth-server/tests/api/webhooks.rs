//! Signed events at the receiver.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::json;
use test_support::{Backend, Sandbox, TestReceiver, due_date, offer_body, on_each_database, with};
use webhook_verify::{EVENT_ID_HEADER, EVENT_TYPE_HEADER};

on_each_database! {
    an_event_arrives_signed_with_exactly_the_fields_of_the_contract,
    a_failed_delivery_is_sent_again_as_the_same_event,
    the_event_of_an_acknowledged_offer_is_delivered_after_a_kill,
    a_supplier_hears_of_its_operations_at_its_own_endpoint,
}

// Contract: create-body/externalReference operation-event/externalReference transition/cancel
// Contract: delivery/POST delivery/content-type
async fn an_event_arrives_signed_with_exactly_the_fields_of_the_contract(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    let caller = sandbox.caller("apiKey");
    let body = with(
        offer_body(&sandbox, "NF-1"),
        "/externalReference",
        json!("PEDIDO 1"),
    );
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &body).await.status,
        201
    );
    caller.post(&format!("{PRE_AUTHORIZATIONS}/1/cancel")).await;
    let mut arrived = receiver.arrived(2, sandbox.text("webhookSecret")).await;
    arrived.sort_by_key(|event| event.body["createdAt"].as_str().unwrap().to_owned());
    let (created, revoked) = (&arrived[0], &arrived[1]);
    let mut data = json!({
        "anticipationId": 1,
        "status": "IN_PRE_AUTH",
        "origin": "PRE_AUTH",
        "invoice": {"amount": 12500.5, "dueDate": due_date(60).to_string(), "number": "NF-1"},
        "netAmount": null,
        "payer": {"cnpj": sandbox.text("companyCnpj"), "name": "Construtora Exemplo S.A."},
        "supplier": {"cnpj": sandbox.text("supplierCnpj"), "name": "Fornecedor Exemplo Ltda."},
        "externalReference": "PEDIDO 1",
        "reason": null,
        "stage": null,
    });
    let envelope = |event: &test_support::Arrived, event_type: &str, data: &serde_json::Value| {
        json!({
            "id": event.body["id"],
            "type": event_type,
            "createdAt": event.body["createdAt"],
            "data": data,
        })
    };
    assert_eq!(
        created.body,
        envelope(created, "pre_authorization.created", &data)
    );
    data["status"] = json!("REPROVED");
    data["reason"] = json!("Cancelada via integração");
    data["stage"] = json!("PRE_AUTH");
    assert_eq!(
        revoked.body,
        envelope(revoked, "pre_authorization.revoked", &data)
    );
    for event in &arrived {
        let header = |name: &str| event.request.headers[name].to_str().unwrap();
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header(EVENT_ID_HEADER), event.body["id"].as_str().unwrap());
        assert_eq!(
            header(EVENT_TYPE_HEADER),
            event.body["type"].as_str().unwrap()
        );
        assert_eq!(event.request.method.as_str(), "POST");
    }
}

// Contract: envelope/id
async fn a_failed_delivery_is_sent_again_as_the_same_event(backend: Backend) {
    let receiver = TestReceiver::start_failing(1).await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    let body = offer_body(&sandbox, "NF-1");
    assert_eq!(
        sandbox
            .caller("apiKey")
            .post_json(PRE_AUTHORIZATIONS, &body)
            .await
            .status,
        201
    );
    let arrived = receiver.arrived(2, sandbox.text("webhookSecret")).await;
    assert_eq!(arrived[0].body, arrived[1].body);
    assert_eq!(
        arrived[0].request.body, arrived[1].request.body,
        "byte for byte"
    );
}

async fn the_event_of_an_acknowledged_offer_is_delivered_after_a_kill(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let silent = "http://127.0.0.1:9/";
    let sandbox = Sandbox::start_sending_to(backend, silent).await;
    let (body, secret) = (
        offer_body(&sandbox, "NF-1"),
        sandbox.text("webhookSecret").to_owned(),
    );
    assert_eq!(
        sandbox
            .caller("apiKey")
            .post_json(PRE_AUTHORIZATIONS, &body)
            .await
            .status,
        201
    );
    let home = sandbox.kill();
    let _sandbox = Sandbox::start_in(home, &["--webhook-url", &receiver.url()]).await;
    let arrived = receiver.arrived(1, &secret).await;
    assert_eq!(arrived[0].body["type"], "pre_authorization.created");
}

// Contract: endpoint/choice
async fn a_supplier_hears_of_its_operations_at_its_own_endpoint(backend: Backend) {
    let company = TestReceiver::start().await;
    let supplier = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &company.url()).await;
    let platform = sandbox.platform();
    let companies = platform
        .get("/api/platform/v1/companies?limit=100")
        .await
        .json();
    let id = companies["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|company| company["cnpj"] == sandbox.text("supplierCnpj"))
        .unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/api/platform/v1/companies/{id}/webhook-endpoint");
    let endpoint = json!({"url": supplier.url(), "events": ["pre_authorization.created"]});
    let headers = [("content-type", "application/json")];
    let body = Some(endpoint.to_string().into_bytes());
    let put = platform
        .send(reqwest::Method::PUT, &path, &headers, body)
        .await;
    assert_eq!(put.status, 201, "{}", put.text);
    let secret = put.json()["secret"].as_str().unwrap().to_owned();

    let caller = sandbox.caller("apiKey");
    let offer = offer_body(&sandbox, "NF-1");
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &offer).await.status,
        201
    );
    caller.post(&format!("{PRE_AUTHORIZATIONS}/1/cancel")).await;
    let at_company = company.arrived(2, sandbox.text("webhookSecret")).await;
    let at_supplier = supplier.arrived(1, &secret).await;
    let created = at_company
        .iter()
        .find(|event| event.body["type"] == "pre_authorization.created");
    assert_eq!(
        at_supplier[0].body,
        created.unwrap().body,
        "one event, one id, two recipients"
    );
    let deliveries = platform
        .get(&format!("/api/platform/v1/companies/{id}/deliveries"))
        .await
        .json();
    assert_eq!(
        deliveries["pagination"]["total"], 1,
        "only the events of the supplier's subscription"
    );
}
