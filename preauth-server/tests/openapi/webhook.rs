//! Events and the description of the webhook.

use preauth_core::wire::path::PRE_AUTHORIZATIONS;
use serde_json::{Value, json};
use test_support::{Arrived, Backend, Sandbox, TestReceiver, due_date, offer_body};

use crate::description::{Description, members};

// Contract: version/OpenAPI
#[tokio::test]
async fn events_of_every_family_are_as_described() {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(Backend::Sqlite, &receiver.url()).await;
    let (erp, platform) = (sandbox.caller("apiKey"), sandbox.platform());
    let company = sandbox.company().await;
    let created = erp
        .post_json(PRE_AUTHORIZATIONS, &offer_body(&sandbox, "NF-1"))
        .await;
    let id = created.json()["id"].clone();
    let cancelled = erp.post(&format!("{PRE_AUTHORIZATIONS}/{id}/cancel")).await;
    assert_eq!(cancelled.status, 201);
    let parties = json!({"payerCompanyId": company, "supplierCnpj": sandbox.text("supplierCnpj")});
    let mut invoice = parties.clone();
    invoice["invoice"] =
        json!({"amount": 900, "dueDate": due_date(9).to_string(), "number": "R-1"});
    let mut order = parties;
    order["amount"] = 900.into();
    for (path, body) in [
        ("invoices".to_owned(), invoice),
        ("payment-orders".to_owned(), order),
        (
            format!("companies/{company}/webhook-endpoint/test"),
            json!({}),
        ),
    ] {
        let answer = platform
            .post_json(&format!("/api/platform/v1/{path}"), &body)
            .await;
        assert!(answer.status < 300, "{path}: {}", answer.text);
    }
    let description = Description::integration();
    let arrived = receiver.arrived(5, sandbox.text("webhookSecret")).await;
    let mut families: Vec<_> = arrived
        .iter()
        .map(|event| validate(&description, event))
        .collect();
    families.sort_unstable();
    families.dedup();
    assert_eq!(
        families,
        [
            "InvoiceReceivedData",
            "OperationEventData",
            "PaymentOrderEventData",
            "WebhookTestData"
        ]
    );
}

/// Validates an event; returns the name of the schema of its data.
fn validate(description: &Description, event: &Arrived) -> &'static str {
    let webhook = &description.document["webhooks"]["event"]["post"];
    for parameter in webhook["parameters"].as_array().unwrap() {
        let name = parameter["name"].as_str().unwrap();
        assert!(event.request.headers.contains_key(name), "{name}");
    }
    let (_, content) = members(&webhook["requestBody"]["content"]).next().unwrap();
    assert_eq!(
        description.validate(&content["schema"], &event.body),
        Ok(())
    );
    let schema = match event.body["type"]
        .as_str()
        .unwrap()
        .split_once('.')
        .unwrap()
    {
        ("invoice", _) => "InvoiceReceivedData",
        ("payment_order", _) => "PaymentOrderEventData",
        ("webhook", _) => "WebhookTestData",
        _ => "OperationEventData",
    };
    let data: &Value = &description.document["components"]["schemas"][schema];
    assert_eq!(description.validate(data, &event.body["data"]), Ok(()));
    schema
}
