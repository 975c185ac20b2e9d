//! Every event type, produced over HTTP, and its payload field by field.

use std::collections::{BTreeMap, BTreeSet};

use preauth_core::value::EventType;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Arrived, Backend, TestReceiver, due_date, on_each_database};
use webhook_verify::{EVENT_ID_HEADER, EVENT_TYPE_HEADER};

use crate::scene::{NET_AMOUNT, Scene, extension_body, text};
use crate::table::{Row, row};

on_each_database! {
    every_type_of_event_arrives_with_exactly_its_fields,
    payer_and_supplier_get_operation_events_and_only_the_payer_gets_the_others,
    a_branchs_events_arrive_at_its_head_office,
    a_test_event_asks_for_no_choice,
}

const MONTH_SECONDS: u64 = 31 * 86_400;

/// Plays a scene and records the expected events.
struct Play {
    scene: Scene,
    /// Type and data of every event so far.
    expected: Vec<(String, Value)>,
}

impl Play {
    fn payer(&self) -> Value {
        let cnpj = self.scene.sandbox.text("companyCnpj");
        json!({"cnpj": cnpj, "name": "Construtora Exemplo S.A."})
    }

    fn supplier(&self) -> Value {
        let cnpj = self.scene.sandbox.text("supplierCnpj");
        json!({"cnpj": cnpj, "name": "Fornecedor Exemplo Ltda."})
    }

    /// Contract, "Webhook data": exactly these fields.
    fn expect(&mut self, id: i64, origin: &str, number: &str, status: &str, event: &str) {
        let data = json!({
            "anticipationId": id,
            "status": status,
            "origin": origin,
            "invoice": {
                "amount": 12500.5,
                "dueDate": due_date(60).to_string(),
                "number": number,
            },
            "netAmount": null,
            "payer": self.payer(),
            "supplier": self.supplier(),
            "externalReference": null,
            "reason": null,
            "stage": null,
        });
        self.expected.push((event.to_owned(), data));
    }

    async fn begin(&mut self, origin: &str, number: &str) -> i64 {
        let id = self.scene.begin(origin, number).await;
        let (status, event) = match origin {
            "DIRECT" => ("IN_VERIFICATION", "anticipation.created"),
            _ => ("IN_PRE_AUTH", "pre_authorization.created"),
        };
        self.expect(id, origin, number, status, event);
        id
    }

    /// Creates an operation and takes it through the table.
    async fn operation(&mut self, origin: &str, number: &str, actions: &[&str]) {
        let id = self.begin(origin, number).await;
        let mut net_amount = Value::Null;
        for action in actions {
            self.scene.play(id, &[action]).await;
            match *action {
                "release" => net_amount = json!(NET_AMOUNT),
                "reopen" => net_amount = Value::Null,
                _ => {}
            }
            self.happened(id, origin, number, row(action), &net_amount)
                .await;
        }
    }

    async fn happened(
        &mut self,
        id: i64,
        origin: &str,
        number: &str,
        row: &Row,
        net_amount: &Value,
    ) {
        self.expect(id, origin, number, row.to, row.event);
        let listed = self
            .scene
            .get(&format!("/operations/{id}/extensions"))
            .await;
        let data = &mut self.expected.last_mut().unwrap().1;
        data["netAmount"] = net_amount.clone();
        data["stage"] = json!(row.stage);
        data["reason"] = json!(row.default_reason);
        if row.event.contains("extension") {
            data["extension"] = extension_body();
            data["extension"]["id"] = listed["data"][0]["id"].clone();
        }
    }

    /// An offer that expires.
    async fn expiry(&mut self, number: &str) {
        let id = self.begin("PRE_AUTH", number).await;
        let passed = json!({"advanceSeconds": MONTH_SECONDS});
        let answer = self.scene.post("/sandbox/clock", passed).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        self.happened(id, "PRE_AUTH", number, row("expire"), &Value::Null)
            .await;
    }

    async fn invoice(&mut self, number: &str) {
        let mut body = self.scene.advance_body(number);
        body["invoice"]["amount"] = json!(0.07);
        let made = self.scene.make("/invoices", body.clone()).await;
        let data = json!({
            "invoiceId": made["id"],
            "invoice": body["invoice"],
            "payer": self.payer(),
            "supplier": self.supplier(),
        });
        self.expected.push(("invoice.received".to_owned(), data));
    }

    async fn payment_order(&mut self, actions: &[(&str, Value, &str, &str)]) {
        let day = due_date(10).to_string();
        let mut body = self.scene.advance_body("-");
        body.as_object_mut().unwrap().remove("invoice");
        body["amount"] = json!(1200.07);
        body["scheduledFor"] = json!(day);
        body["operationId"] = json!(1);
        let made = self.scene.make("/payment-orders", body).await;
        let mut data = json!({
            "paymentOrderId": made["id"],
            "status": "CREATED",
            "amount": 1200.07,
            "scheduledFor": day,
            "anticipationId": 1,
            "payer": self.payer(),
            "supplier": self.supplier(),
            "reason": null,
        });
        self.expected
            .push(("payment_order.created".to_owned(), data.clone()));
        for (action, body, status, event) in actions {
            let path = format!("/payment-orders/{}/{action}", made["id"]);
            let answer = self.scene.post(&path, body.clone()).await;
            assert_eq!(answer.status, 200, "{action}: {}", answer.text);
            data["status"] = json!(status);
            for name in ["reason", "scheduledFor"] {
                if let Some(value) = body.get(name) {
                    data[name] = value.clone();
                }
            }
            self.expected
                .push((format!("payment_order.{event}"), data.clone()));
        }
    }

    async fn test(&mut self) {
        let path = format!("/companies/{}/webhook-endpoint/test", self.scene.company);
        let answer = self.scene.send(Method::POST, &path, None).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let queued = answer.json();
        assert_eq!(queued["eventType"], "webhook.test");
        let body: Value = serde_json::from_str(queued["body"].as_str().unwrap()).unwrap();
        assert_eq!(body["id"], queued["eventId"]);
        let data = json!({"message": "Evento de teste: o endpoint está configurado."});
        self.expected.push(("webhook.test".to_owned(), data));
    }
}

// Contract: service/one-number envelope/id envelope/type envelope/data
// Contract: operation-event/anticipationId operation-event/invoice* operation-event/payer*
// Contract: operation-event/supplier* operation-event/externalReference operation-event/extension*
// Contract: invoice-event/* order-event/* test-event/message delivery/x-service-event-id
// Contract: delivery/x-service-event-type event-type/* version/no-event-type-ceases
async fn every_type_of_event_arrives_with_exactly_its_fields(backend: Backend) {
    let mut play = Play {
        scene: Scene::new(backend).await,
        expected: Vec::new(),
    };
    let whole = [
        "request",
        "approve",
        "release",
        "pay",
        "return-payout",
        "pay",
        "bill",
        "extend",
        "cancel extension",
        "extend",
        "conclude extension",
        "conclude",
    ];
    play.operation("PRE_AUTH", "NF-1", &whole).await;
    play.operation("PRE_AUTH", "NF-2", &["decline"]).await;
    play.operation("PRE_AUTH", "NF-3", &["cancel"]).await;
    play.operation(
        "DIRECT",
        "NF-4",
        &["verify", "approve", "reprove by PLATFORM", "reopen"],
    )
    .await;
    play.invoice("NF-5").await;
    let reason = json!({"reason": "Em duplicidade"});
    let day = json!({"scheduledFor": due_date(20).to_string()});
    play.payment_order(&[("cancel", reason.clone(), "CANCELED", "canceled")])
        .await;
    play.payment_order(&[("reprove", reason, "REPROVED", "reproved")])
        .await;
    // Last, because a paid order blocks others.
    play.payment_order(&[
        ("review", json!({}), "UNDER_REVIEW", "under_review"),
        ("schedule", day, "SCHEDULED", "scheduled"),
        ("pay", json!({}), "PAID", "paid"),
    ])
    .await;
    play.test().await;
    play.expiry("NF-6").await;

    let produced: BTreeSet<_> = play
        .expected
        .iter()
        .map(|(kind, _)| kind.as_str())
        .collect();
    let all: BTreeSet<_> = EventType::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(produced, all);
    let secret = play.scene.sandbox.text("webhookSecret");
    let arrived = play
        .scene
        .receiver
        .arrived(play.expected.len(), secret)
        .await;
    let mut received = decoded(&arrived);
    // They may arrive in any order.
    let order = |(kind, data): &(String, Value)| format!("{kind} {data}");
    received.sort_by_key(order);
    play.expected.sort_by_key(order);
    for (received, expected) in received.iter().zip(&play.expected) {
        assert_eq!(received, expected);
    }
    assert_eq!(received.len(), play.expected.len());
}

/// Type and data of each event, after its envelope and headers are validated.
fn decoded(arrived: &[Arrived]) -> Vec<(String, Value)> {
    let mut ids = BTreeSet::new();
    let mut decoded = Vec::new();
    for event in arrived {
        let body = &event.body;
        let envelope: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(envelope, ["createdAt", "data", "id", "type"]);
        let header = |name: &str| event.request.headers[name].to_str().unwrap();
        assert_eq!(header(EVENT_ID_HEADER), text(&body["id"]));
        assert_eq!(header(EVENT_TYPE_HEADER), text(&body["type"]));
        ids.insert(text(&body["id"]));
        decoded.push((text(&body["type"]), body["data"].clone()));
    }
    assert_eq!(ids.len(), arrived.len(), "every event has an id of its own");
    decoded
}

// Contract: delivery/owner-alone
async fn payer_and_supplier_get_operation_events_and_only_the_payer_gets_the_others(
    backend: Backend,
) {
    let scene = Scene::new(backend).await;
    let supplier = scene.company_of("supplierCnpj").await;
    let receiver = TestReceiver::start().await;
    let secret = scene.register(&supplier, &receiver.url()).await;
    scene.make("/invoices", scene.advance_body("NF-1")).await;
    let mut order = scene.advance_body("-");
    order["amount"] = json!(10);
    scene.make("/payment-orders", order).await;
    let id = scene.offer("NF-2").await;
    scene.play(id, &["request"]).await;
    let at_payer = kinds(scene.events(4).await);
    let at_supplier = receiver.arrived(2, &secret).await;
    let ids = |events: &[Arrived]| -> BTreeSet<String> {
        events.iter().map(|event| text(&event.body["id"])).collect()
    };
    let supplier_ids = ids(&at_supplier);
    let at_supplier = kinds(at_supplier.into_iter().map(|event| event.body).collect());
    let operations = ["anticipation.requested", "pre_authorization.created"];
    assert_eq!(at_supplier.keys().collect::<Vec<_>>(), operations);
    let rest = ["invoice.received", "payment_order.created"];
    for kind in operations.iter().chain(&rest) {
        assert!(at_payer.contains_key(*kind), "{kind}");
    }
    // One event has one id and one body at every receiver.
    for kind in operations {
        assert!(
            supplier_ids.contains(&text(&at_payer[kind]["id"])),
            "{kind}"
        );
        assert_eq!(at_payer[kind], at_supplier[kind]);
    }
}

async fn a_branchs_events_arrive_at_its_head_office(backend: Backend) {
    let scene = Scene::new(backend).await;
    let branch = scene.company_of("branchCnpj").await;
    let mut body = scene.advance_body("NF-1");
    body["payerCompanyId"] = json!(branch);
    scene.make("/operations", body.clone()).await;
    scene.make("/invoices", body).await;
    for event in scene.events(2).await {
        let payer = &event["data"]["payer"]["cnpj"];
        assert_eq!(payer, scene.sandbox.text("branchCnpj"), "{event}");
    }
}

// Contract: endpoint/pause endpoint/test
async fn a_test_event_asks_for_no_choice(backend: Backend) {
    let scene = Scene::new(backend).await;
    let supplier = scene.company_of("supplierCnpj").await;
    let path = format!("/companies/{supplier}/webhook-endpoint");
    let missing = scene
        .send(Method::POST, &format!("{path}/test"), None)
        .await;
    assert_eq!(missing.refusal(), (404, "RESOURCE_NOT_FOUND".to_owned()));
    let receiver = TestReceiver::start().await;
    let secret = scene.register(&supplier, &receiver.url()).await;
    let chosen = json!({"url": receiver.url(), "events": ["anticipation.paid"]});
    assert_eq!(
        scene.send(Method::PUT, &path, Some(chosen)).await.status,
        200
    );
    for _ in 0..2 {
        let sent = scene
            .send(Method::POST, &format!("{path}/test"), None)
            .await;
        assert_eq!(sent.status, 200, "{}", sent.text);
    }
    let arrived = receiver.arrived(2, &secret).await;
    assert_ne!(arrived[0].body["id"], arrived[1].body["id"]);
    // A paused endpoint queues its test event like any other.
    let paused = scene
        .send(Method::POST, &format!("{path}/pause"), None)
        .await;
    assert_eq!(paused.json()["status"], "PAUSED");
    let kept = scene
        .send(Method::POST, &format!("{path}/test"), None)
        .await;
    assert_eq!(kept.json()["status"], "PAUSED", "{}", kept.text);
    scene
        .send(Method::POST, &format!("{path}/resume"), None)
        .await;
    receiver.arrived(3, &secret).await;
}

/// The events by type; each type occurs once.
fn kinds(events: Vec<Value>) -> BTreeMap<String, Value> {
    let count = events.len();
    let by_kind: BTreeMap<_, _> = events
        .into_iter()
        .map(|event| (text(&event["type"]), event))
        .collect();
    assert_eq!(by_kind.len(), count);
    by_kind
}
