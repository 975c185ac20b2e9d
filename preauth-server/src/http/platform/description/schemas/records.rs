//! Received invoices, payment orders, the sandbox's clock.

use super::{money, named, parties};
use crate::http::openapi::schema::{Schema, required};
use crate::http::openapi::shared;

pub(super) fn received_invoice() -> Schema {
    let invoice = Schema::answer(
        "The invoice.",
        [
            required("amount", Schema::amount("Gross amount in reais.", 900.0)),
            required("dueDate", shared::due_date()),
            required("number", shared::invoice_number().nullable()),
        ],
    );
    Schema::answer(
        "An invoice that arrived on the platform.",
        [
            required("id", Schema::integer("The invoice's id.", 7)),
            required("payer", named("PlatformParty")),
            required("supplier", named("PlatformParty")),
            required("invoice", invoice),
            required("createdAt", Schema::timestamp("When it was received.")),
        ],
    )
}

pub(super) fn new_received_invoice() -> Schema {
    let invoice = Schema::request(
        "The invoice.",
        [
            required("amount", money("Gross amount in reais.", 900.0)),
            required("dueDate", shared::due_date()),
            required("number", shared::invoice_number().visible(1, 50)),
        ],
    );
    Schema::request(
        "An invoice.",
        parties().into_iter().chain([required("invoice", invoice)]),
    )
}

pub(super) fn advance() -> Schema {
    let seconds = Schema::integer("How long, in seconds; 366 days at most.", 259_200);
    let seconds = seconds.at_least(0).at_most(31_622_400);
    Schema::request("How long.", [required("advanceSeconds", seconds)])
}

pub(super) fn clock() -> Schema {
    let now = Schema::timestamp("The time in this sandbox.");
    Schema::answer("The clock.", [required("now", now)])
}
