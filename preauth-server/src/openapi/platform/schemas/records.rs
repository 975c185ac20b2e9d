//! Received invoices, payment orders, the sandbox's clock.

use preauth_core::value::PaymentOrderStatus;

use super::{money, named, parties};
use crate::openapi::schema::{Schema, optional, required};
use crate::openapi::shared;

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

pub(super) fn payment_order() -> Schema {
    Schema::answer(
        "An order to pay a supplier.",
        [
            required("id", Schema::integer("The order's id.", 5)),
            required("version", Schema::integer("Changes so far.", 1).at_least(1)),
            required(
                "status",
                Schema::open("Where it stands.", PaymentOrderStatus::Created),
            ),
            required("payer", named("PlatformParty")),
            required("supplier", named("PlatformParty")),
            required("amount", Schema::amount("How much, in reais.", 900.0)),
            required(
                "scheduledFor",
                Schema::date("The day of payment, once known.", "2027-01-15").nullable(),
            ),
            required(
                "operationId",
                Schema::integer("The operation it belongs to, if any.", 42).nullable(),
            ),
            required(
                "reason",
                Schema::text("Why it was cancelled or refused.", "").null(),
            ),
            required("createdAt", Schema::timestamp("When it was generated.")),
        ],
    )
}

pub(super) fn new_payment_order() -> Schema {
    let operation = "An operation between the same two.";
    let others = [
        required("amount", money("How much, in reais.", 900.0)),
        optional(
            "scheduledFor",
            Schema::date("The day of payment.", "2027-01-15"),
        ),
        optional("operationId", Schema::integer(operation, 42).at_least(1)),
    ];
    Schema::request("An order.", parties().into_iter().chain(others))
}

pub(super) fn schedule() -> Schema {
    let day = Schema::date(
        "The day of payment; the one it has otherwise.",
        "2027-01-15",
    );
    Schema::request("When.", [optional("scheduledFor", day)])
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
