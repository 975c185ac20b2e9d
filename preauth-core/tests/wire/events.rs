use preauth_core::value::{EventType, Origin, Stage, Status};
use preauth_core::wire::{
    EventData, EventEnvelope, InvoiceReceivedData, Open, OperationEventData, PaymentOrderEventData,
    RawEventEnvelope, WebhookTestData, from_json,
};

use crate::{assert_survives, with_unknown_fields};

const CREATED: &str = include_str!("golden/event_created.json");
const REVOKED: &str = include_str!("golden/event_revoked.json");
const EXTENSION: &str = include_str!("golden/event_extension.json");
const INVOICE: &str = include_str!("golden/event_invoice.json");
const PAYMENT_ORDER: &str = include_str!("golden/event_payment_order.json");
const TEST: &str = include_str!("golden/event_test.json");

fn data(golden: &str) -> EventData {
    let event = RawEventEnvelope::from_json(golden.as_bytes()).unwrap();
    event.data().unwrap()
}

// Contract: envelope/createdAt version/compatible-changes
#[test]
fn an_operation_event_is_written_as_it_was_read() {
    let created: EventEnvelope<OperationEventData> = assert_survives(CREATED);
    assert_eq!(created.event_type, EventType::PreAuthorizationCreated);
    assert_eq!(created.data.net_amount, None);

    let revoked: EventEnvelope<OperationEventData> = assert_survives(REVOKED);
    assert_eq!(revoked.data.status, Status::Reproved);
    assert_eq!(revoked.data.stage, Some(Open::Known(Stage::PreAuth)));
}

// Contract: operation-event/extension
#[test]
fn an_extension_is_written_in_extension_events_only() {
    let event: EventEnvelope<OperationEventData> = assert_survives(EXTENSION);
    assert_eq!(event.data.extension.unwrap().id.get(), 3);
    assert_eq!(event.data.origin, Origin::Direct);
    assert!(!CREATED.contains("extension"));
}

// Contract: operation-event/invoice.number
#[test]
fn the_shapes_without_a_published_form_are_written_as_they_were_read() {
    assert_survives::<EventEnvelope<InvoiceReceivedData>>(INVOICE);
    assert_survives::<EventEnvelope<PaymentOrderEventData>>(PAYMENT_ORDER);
    assert_survives::<EventEnvelope<WebhookTestData>>(TEST);
}

#[test]
fn the_raw_envelope_keeps_the_bytes_of_its_data() {
    for golden in [CREATED, REVOKED, EXTENSION, INVOICE, PAYMENT_ORDER, TEST] {
        assert_survives::<RawEventEnvelope>(golden);
    }
}

#[test]
fn the_type_decides_the_shape_of_the_data() {
    for golden in [CREATED, REVOKED, EXTENSION] {
        assert!(matches!(data(golden), EventData::Operation(_)));
    }
    assert!(matches!(data(INVOICE), EventData::Invoice(_)));
    assert!(matches!(data(PAYMENT_ORDER), EventData::PaymentOrder(_)));
    assert!(matches!(data(TEST), EventData::Test(_)));
}

#[test]
fn an_unknown_type_is_no_error_whatever_its_data() {
    for newer in ["anticipation.renegotiated", "contract.signed", "", "x"] {
        let document = TEST.replace("webhook.test", newer);
        let event = RawEventEnvelope::from_json(document.as_bytes()).unwrap();
        assert_eq!(event.event_type.as_str(), newer);
        assert_eq!(event.data().unwrap(), EventData::Unknown);
        assert!(event.data.get().contains("Evento de teste."));
    }
}

// Contract: version/tolerance
#[test]
fn unknown_fields_are_ignored_and_unknown_words_are_kept() {
    for golden in [CREATED, REVOKED, EXTENSION, INVOICE, PAYMENT_ORDER, TEST] {
        assert_eq!(data(&with_unknown_fields(golden)), data(golden));
    }
    let newer = REVOKED
        .replace("\"REPROVED\"", "\"ON_HOLD\"")
        .replace("\"origin\": \"PRE_AUTH\"", "\"origin\": \"BANK\"")
        .replace("\"stage\": \"PRE_AUTH\"", "\"stage\": \"PAYMENT\"");
    let event: EventEnvelope<OperationEventData> = assert_survives(&newer);
    assert_eq!(event.data.status.as_str(), "ON_HOLD");
    assert_eq!(event.data.origin.as_str(), "BANK");
    assert_eq!(event.data.stage.unwrap().as_str(), "PAYMENT");
}

#[test]
fn a_null_order_status_date_or_id_is_distinguished_from_a_wrong_one() {
    let order = |from: &str, to: &str| {
        let document = PAYMENT_ORDER.replace(from, to);
        from_json::<EventEnvelope<PaymentOrderEventData>>(document.as_bytes())
    };
    let unscheduled = order("\"2026-12-01\"", "null").unwrap();
    assert_eq!(unscheduled.data.scheduled_for, None);
    assert!(order("\"2026-12-01\"", "\"soon\"").is_err());
    assert!(order("\"anticipationId\": null", "\"anticipationId\": 0").is_err());
    let linked = order("\"anticipationId\": null", "\"anticipationId\": 9").unwrap();
    assert_eq!(linked.data.anticipation_id.unwrap().get(), 9);
}
