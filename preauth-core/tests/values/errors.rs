//! The texts of the errors.

use std::error::Error;

use preauth_core::port::{CommitError, Unavailable};
use preauth_core::service::ServiceError;
use preauth_core::value::{
    Cnpj, Decimal, DueDate, Email, EventId, EventType, IdempotencyKey, InvoiceNumber, Money,
    OperationId, Status, Timestamp,
};
use preauth_core::wire::{ErrorBody, from_json};

fn error<T, E: Error + 'static>(result: Result<T, E>) -> Box<dyn Error> {
    Box::new(result.err().unwrap())
}

/// Each with what its text must name: what was expected, or what to do next.
fn errors() -> Vec<(Box<dyn Error>, &'static str)> {
    let cause = || "the disk is full".into();
    let key = |text: &str| error(text.parse::<IdempotencyKey>());
    vec![
        (error(Money::parse("1.234,56")), "such as 1234.56"),
        (error(Money::parse("1.234")), "two decimals"),
        (
            error(Money::parse("92233720368547758.08")),
            "above 92233720368547758.07",
        ),
        (error(Decimal::parse_json_number("")), "such as 1234.56"),
        (error(Decimal::parse_json_number("x")), "such as 1234.56"),
        (error(DueDate::parse("21/12/2026")), "such as 2026-12-21"),
        (
            error(DueDate::parse("2026-02-30")),
            "the calendar does not have",
        ),
        (
            error(Timestamp::parse("yesterday")),
            "YYYY-MM-DDTHH:MM:SS.sssZ",
        ),
        (
            error(Timestamp::parse("2026-02-30T00:00:00Z")),
            "does not exist",
        ),
        (error(Cnpj::parse("")), "expected 14"),
        (error(Cnpj::parse("1")), "1 characters instead of 14"),
        (error(Cnpj::parse("12.abc.345/01de-36")), "mistyped"),
        (error(Email::parse("nobody")), "name@example.com"),
        (error(Email::parse("a@localhost")), "has no dot"),
        (error(" ".parse::<InvoiceNumber>()), "blank"),
        (error("a\nb".parse::<InvoiceNumber>()), "line break"),
        (key("short"), "5 characters, the minimum is 8"),
        (key("with space"), "expected ASCII letters, digits and"),
        (error(OperationId::parse("one")), "such as 1042"),
        (error(OperationId::parse("0")), "positive integer"),
        (error(EventId::parse("1042")), "0197f3c2-"),
        (error(Status::parse("DONE")), "IN_PRE_AUTH, "),
        (error(EventType::parse("order.paid")), "webhook.test"),
        (
            error(from_json::<ErrorBody>(b"[]")),
            "does not begin with {",
        ),
        (
            error(from_json::<ErrorBody>(b"{}")),
            "missing field `errors`",
        ),
        (
            Box::new(ServiceError::IdempotencyKeyReused { operation: None }),
            "new key",
        ),
        (Box::new(ServiceError::IdempotencyInProgress), "later"),
        (Box::new(ServiceError::NotDone(cause())), "the disk is full"),
        (Box::new(ServiceError::Unknown(cause())), "same key"),
        (Box::new(CommitError::NotDone(cause())), "the disk is full"),
        (Box::new(Unavailable { cause: cause() }), "the disk is full"),
    ]
}

#[test]
fn an_error_returned_by_main_names_the_expected_value_or_the_next_step() {
    for (error, named) in errors() {
        let shown = format!("{error:?}");
        assert!(shown.starts_with(&error.to_string()), "{shown}");
        assert!(shown.contains(named), "{shown}");
        assert!(shown.contains(' ') && !shown.contains('\n'), "{shown}");
        assert!(!shown.ends_with('.'), "{shown}");
        assert!(shown.starts_with(char::is_lowercase), "{shown}");
    }
}
