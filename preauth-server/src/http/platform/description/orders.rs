//! Received invoices, payment orders, and the sandbox's clock.

use preauth_core::ErrorCode;

use crate::http::openapi::described::Described;
use crate::http::platform::sections::{RECORDS, SANDBOX};

use super::{at, keyed, number, paged, schemas};

/// The possible refusals of a new record with two parties.
const OF_PARTIES: [ErrorCode; 2] = [ErrorCode::ResourceNotFound, ErrorCode::ResourceConflict];

pub(super) fn all() -> Vec<Described> {
    let mut all = invoices();
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
