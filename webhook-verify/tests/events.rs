//! The typed event, and the helper that handles each event once.
#![cfg(feature = "events")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on panics"
)]

use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Future, pending, ready};
use std::num::NonZeroUsize;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use webhook_verify::events::{
    Event, EventData, EventError, EventId, EventType, Handled, MemorySeen, Once, OnceError, Open,
    SeenEvents,
};
use webhook_verify::{Secret, Verifier, sign};

const NOW: i64 = 1_760_000_000;

fn event(body: &str) -> Result<Event, EventError> {
    let secret = Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE").unwrap();
    let header = sign(std::slice::from_ref(&secret), NOW, body.as_bytes()).unwrap();
    let verifier = Verifier::new(secret);
    verifier
        .verify(Some(header.as_bytes()), body.as_bytes(), NOW)
        .unwrap()
        .event()
}

fn of(event_type: &str, data: &str) -> String {
    format!(
        r#"{{"id":"0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e","type":"{event_type}","createdAt":"2026-11-21T12:00:00.000Z","data":{data}}}"#
    )
}

const OPERATION: &str = r#"{"anticipationId":7,"status":"TO_RECEIVE","origin":"DIRECT",
    "invoice":{"amount":1234.56,"dueDate":"2026-12-21","number":null},"netAmount":1100.1,
    "payer":{"cnpj":"11222333000181","name":"C"},"supplier":{"cnpj":"12ABC34501DE35","name":null},
    "externalReference":null,"reason":null,"stage":null,
    "extension":{"id":3,"newDueDate":"2027-01-10","totalAmount":1300}}"#;
const INVOICE: &str = r#"{"invoiceId":9,"invoice":{"amount":500,"dueDate":"2026-12-21","number":"1"},
    "payer":{"cnpj":"11222333000181","name":"C"},"supplier":{"cnpj":"12ABC34501DE35","name":null}}"#;
const ORDER: &str = r#"{"paymentOrderId":5,"status":"SCHEDULED","amount":0.01,"scheduledFor":"2026-12-01",
    "anticipationId":null,"payer":{"cnpj":"11222333000181","name":"C"},
    "supplier":{"cnpj":"12ABC34501DE35","name":"S"},"reason":null}"#;

#[test]
fn each_of_the_25_types_is_read_in_its_shape() {
    for event_type in EventType::ALL {
        let text = event_type.as_str();
        let data = match text.split_once('.').unwrap().0 {
            "pre_authorization" | "anticipation" => OPERATION,
            "invoice" => INVOICE,
            "payment_order" => ORDER,
            _ => r#"{"message":"hello"}"#,
        };
        let event = event(&of(text, data)).unwrap();
        assert_eq!(*event.event_type(), *event_type);
        assert!(!matches!(event.data(), EventData::Unknown), "{text}");
        assert_eq!(event.raw_data(), data);
    }
    assert_eq!(EventType::ALL.len(), 25);
}

#[test]
fn money_and_dates_are_exact() {
    let event = event(&of("anticipation.extension_created", OPERATION)).unwrap();
    let EventData::Operation(operation) = event.data() else {
        panic!("{event:?}");
    };
    assert_eq!(operation.invoice.amount.money().cents(), 123_456);
    assert_eq!(operation.net_amount.unwrap().money().cents(), 110_010);
    let extension = operation.extension.as_ref().unwrap();
    assert_eq!(extension.new_due_date.to_string(), "2027-01-10");
    assert_eq!(event.created_at().to_string(), "2026-11-21T12:00:00.000Z");
}

// Contract: version/tolerance
#[test]
fn unknown_types_statuses_and_fields_are_kept_and_are_no_error() {
    let newer = event(&of("anticipation.suspended", r#"{"of":"2030"}"#)).unwrap();
    assert_eq!(*newer.event_type(), Open::from("anticipation.suspended"));
    assert_eq!(*newer.data(), EventData::Unknown);
    assert_eq!(newer.raw_data(), r#"{"of":"2030"}"#);

    let newer_status = OPERATION.replace("TO_RECEIVE", "ON_HOLD");
    let newer_field = newer_status.replacen('{', r#"{"risk":{"class":"B"},"#, 1);
    let event = event(&of("anticipation.billed", &newer_field)).unwrap();
    let EventData::Operation(operation) = event.data() else {
        panic!("{event:?}");
    };
    assert_eq!(operation.status.as_str(), "ON_HOLD");
    assert!(event.raw_data().contains(r#""risk":{"class":"B"}"#));
}

#[test]
fn a_body_that_is_no_event_is_distinguished_from_data_of_another_shape() {
    for body in ["", "[]", "{}", "not json", r#"["a","b","c","d"]"#] {
        assert!(
            matches!(event(body), Err(EventError::Envelope(_))),
            "{body}"
        );
    }
    let wrong = event(&of("anticipation.paid", r#"{"message":"hello"}"#)).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "the data of event 0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e is not that of anticipation.paid"
    );
}

#[test]
fn an_event_shows_nothing_of_its_data() {
    let shown = format!("{:?}", event(&of("anticipation.paid", OPERATION)).unwrap());
    assert!(
        shown.contains("0197f3c2") && !shown.contains("11222333000181"),
        "{shown}"
    );
}

fn id(number: u8) -> EventId {
    let text = format!("0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d{number:02x}");
    text.parse().unwrap()
}

/// Polls a future that never has to wait for anybody else.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future waits"),
    }
}

fn work<S: SeenEvents>(
    once: &Once<S>,
    event: EventId,
    outcome: Result<u8, &'static str>,
) -> Result<Handled<u8>, OnceError<&'static str, S::Error>> {
    now(once.handle(event, async || outcome))
}

// Contract: delivery/again-out-of-order
#[test]
fn an_event_is_handled_at_its_first_arrival_only() {
    let once = Once::new(MemorySeen::default());
    assert!(matches!(work(&once, id(1), Ok(7)), Ok(Handled::Now(7))));
    assert!(matches!(work(&once, id(1), Ok(8)), Ok(Handled::Before)));
    assert!(matches!(work(&once, id(2), Ok(9)), Ok(Handled::Now(9))));
}

#[test]
fn work_that_failed_is_done_again() {
    let once = Once::new(MemorySeen::default());
    assert!(matches!(
        work(&once, id(1), Err("full")),
        Err(OnceError::Work("full"))
    ));
    assert!(matches!(work(&once, id(1), Ok(7)), Ok(Handled::Now(7))));
}

#[test]
fn a_second_arrival_during_the_work_returns_at_once_and_dropped_work_is_done_again() {
    let once = Once::new(MemorySeen::default());
    {
        let mut first = pin!(once.handle(id(1), async || pending::<Result<u8, ()>>().await));
        let mut context = Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(&mut context).is_pending());
        assert!(matches!(work(&once, id(1), Ok(7)), Ok(Handled::UnderWay)));
        assert!(matches!(work(&once, id(2), Ok(7)), Ok(Handled::Now(7))));
    }
    assert!(matches!(work(&once, id(1), Ok(7)), Ok(Handled::Now(7))));
}

#[test]
fn a_store_that_fails_before_the_work_prevents_it_and_after_it_lets_it_be_repeated() {
    struct Failing {
        before: bool,
    }
    impl SeenEvents for Failing {
        type Error = &'static str;
        fn contains(&self, _: EventId) -> impl Future<Output = Result<bool, &'static str>> + Send {
            ready(if self.before { Err("lost") } else { Ok(false) })
        }
        fn insert(&self, _: EventId) -> impl Future<Output = Result<(), &'static str>> + Send {
            ready(Err("lost"))
        }
    }
    for before in [true, false] {
        let once = Once::new(Failing { before });
        let ran = Cell::new(false);
        let outcome = now(once.handle(id(1), async || {
            ran.set(true);
            Ok::<(), Infallible>(())
        }));
        assert!(matches!(outcome, Err(OnceError::Seen("lost"))));
        assert_eq!(ran.get(), !before);
    }
}

#[test]
fn a_bounded_memory_forgets_the_event_that_arrived_first() {
    let once = Once::new(MemorySeen::with_capacity(NonZeroUsize::new(2).unwrap()));
    for number in [9, 1, 5] {
        assert!(matches!(
            work(&once, id(number), Ok(0)),
            Ok(Handled::Now(0))
        ));
    }
    assert!(matches!(work(&once, id(1), Ok(0)), Ok(Handled::Before)));
    assert!(matches!(work(&once, id(5), Ok(0)), Ok(Handled::Before)));
    assert!(matches!(work(&once, id(9), Ok(0)), Ok(Handled::Now(0))));
}
