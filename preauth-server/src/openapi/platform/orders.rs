//! Received invoices, payment orders, and the sandbox's clock.

use preauth_core::ErrorCode;

use crate::openapi::described::Described;
use crate::openapi::document::Tag;

use super::{at, keyed, number, paged, schemas};

pub(super) const RECORDS: Tag = Tag {
    name: "records",
    description: "Received invoices and payment orders.",
};
pub(super) const SANDBOX: Tag = Tag {
    name: "sandbox",
    description: "What only a sandbox has.",
};

/// The possible refusals of a new record with two parties.
const OF_PARTIES: [ErrorCode; 2] = [ErrorCode::ResourceNotFound, ErrorCode::ResourceConflict];

const ACTIONS: [(&str, &str, &str, Option<&str>); 5] = [
    (
        "review",
        "reviewPaymentOrder",
        "A payment order goes into review",
        None,
    ),
    (
        "schedule",
        "schedulePaymentOrder",
        "A payment order is given a day",
        Some("Schedule"),
    ),
    ("pay", "payPaymentOrder", "A payment order was paid", None),
    (
        "cancel",
        "cancelPaymentOrder",
        "A payment order is cancelled",
        Some("Reason"),
    ),
    (
        "reprove",
        "reprovePaymentOrder",
        "A payment order is refused",
        Some("Reason"),
    ),
];

pub(super) fn all() -> Vec<Described> {
    let mut all = invoices();
    all.extend(payment_orders());
    all.extend(ACTIONS.map(|(segment, operation, summary, body)| {
        let path = format!("payment-orders/{{id}}/{segment}");
        let described = of_order(described("post", &path, operation, summary))
            .answers(200, "The order as moved.", schemas::named("PaymentOrder"))
            .refuses(&[ErrorCode::AnticipationInvalidTransition]);
        match body {
            None => described.reads_body(),
            Some(name) => described.optional_body("What there is to say.", schemas::named(name)),
        }
    }));
    all.push(clock());
    all
}

fn described(
    method: &'static str,
    path: &str,
    operation: &'static str,
    summary: &'static str,
) -> Described {
    Described::new(method, at(path), RECORDS.name, operation, summary)
}

fn of_order(described: Described) -> Described {
    number(described, "The order's id.", ErrorCode::ResourceNotFound)
}

fn invoices() -> Vec<Described> {
    let find = described(
        "get",
        "invoices/{id}",
        "getInvoice",
        "Get a received invoice",
    );
    vec![
        paged(described(
            "get",
            "invoices",
            "listInvoices",
            "List received invoices",
        ))
        .answers(200, "Newest first.", schemas::named("ReceivedInvoiceList")),
        keyed(
            described("post", "invoices", "addInvoice", "An invoice was received")
                .body("The invoice.", schemas::named("NewReceivedInvoice"))
                .answers(201, "Recorded.", schemas::named("ReceivedInvoice")),
        )
        .refuses(&OF_PARTIES),
        number(find, "The invoice's id.", ErrorCode::ResourceNotFound).answers(
            200,
            "The invoice.",
            schemas::named("ReceivedInvoice"),
        ),
    ]
}

fn payment_orders() -> Vec<Described> {
    let order = || schemas::named("PaymentOrder");
    vec![
        paged(described(
            "get",
            "payment-orders",
            "listPaymentOrders",
            "List payment orders",
        ))
        .answers(200, "Newest first.", schemas::named("PaymentOrderList")),
        keyed(
            described(
                "post",
                "payment-orders",
                "addPaymentOrder",
                "A payment order was generated",
            )
            .note(
                "An operation has one payment order at a time: another is 409 `RESOURCE_CONFLICT` until the first is canceled or \
                 reproved, or its payout was returned after it was paid.",
            )
            .body("The order.", schemas::named("NewPaymentOrder"))
            .answers(201, "Generated.", order()),
        )
        .refuses(&OF_PARTIES),
        of_order(described(
            "get",
            "payment-orders/{id}",
            "getPaymentOrder",
            "Get a payment order",
        ))
        .answers(200, "The order.", order()),
    ]
}

fn clock() -> Described {
    Described::new(
        "post",
        at("sandbox/clock"),
        SANDBOX.name,
        "advanceClock",
        "Let time pass at once",
    )
    .note("A sandbox only: everywhere else there is no such path.")
    .body("How long.", schemas::named("Advance"))
    .answers(200, "The time now.", schemas::named("Clock"))
    .refuses(&[ErrorCode::NotFound])
}
