//! Operations and extensions.

use preauth_core::operation::ActorKind;
use preauth_core::value::{EventType, Origin, Stage, Status};

use super::{money, named, parties};
use crate::http::openapi::schema::{Field, Schema, optional, required};
use crate::http::openapi::shared;

pub(super) fn operation() -> Schema {
    Schema::answer("An operation as the platform shows it.", shown())
}

pub(super) fn details() -> Schema {
    let extensions = Schema::array("The newest 100, the open one included.", named("Extension"));
    let details = [
        required("extensions", extensions),
        required("invoiceFile", invoice_file().null()),
        required(
            "history",
            Schema::array("Its events, oldest first.", history()),
        ),
    ];
    Schema::answer(
        "An operation with everything about it.",
        shown().into_iter().chain(details),
    )
}

fn invoice_file() -> Schema {
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    Schema::answer(
        "What came with the offer; null when nothing did.",
        [
            required("name", Schema::text("As it was sent; no path.", "nota.pdf")),
            required(
                "mediaType",
                Schema::open_words(
                    "As it was declared.",
                    vec!["application/pdf", "application/xml", "text/xml"],
                    "application/pdf",
                ),
            ),
            required("size", Schema::integer("In bytes.", 3)),
            required(
                "sha256",
                Schema::text("Of the content, in hexadecimal.", hash),
            ),
        ],
    )
}

fn shown() -> [Field; 15] {
    let boleto = "While the boleto is out: when it falls due.";
    let extension = "While the boleto is out: its open extension.";
    [
        required("id", Schema::integer("The operation's id.", 42)),
        required("version", Schema::integer("Changes so far.", 1).at_least(1)),
        required(
            "status",
            Schema::open("Where it stands.", Status::InPreAuth),
        ),
        required(
            "origin",
            Schema::open(
                "Born from an offer, or begun by the supplier.",
                Origin::PreAuth,
            ),
        ),
        required("externalReference", shared::external_reference().nullable()),
        required("payer", named("PlatformParty")),
        required("supplier", named("PlatformParty")),
        required("invoice", named("Invoice")),
        required(
            "netAmount",
            Schema::amount("Net amount to the supplier, once released.", 12_100.0).null(),
        ),
        required("reason", Schema::text("Why it was closed.", "").null()),
        required(
            "stage",
            Schema::open("At which stage it was closed.", Stage::PreAuth).null(),
        ),
        required("boletoDueDate", Schema::date(boleto, "2027-01-20").null()),
        required(
            "extension",
            Schema::answer(extension, shared::extension_fields()).null(),
        ),
        required(
            "expiresAt",
            Schema::timestamp("Until when the supplier may request it.").nullable(),
        ),
        required("createdAt", Schema::timestamp("When it began.")),
    ]
}

fn history() -> Schema {
    let actor = Schema::answer(
        "Who caused it.",
        [
            required(
                "kind",
                Schema::open("What kind of actor.", ActorKind::ApiKey),
            ),
            optional("apiKeyId", Schema::uuid("Which key, for API_KEY.")),
            optional("userId", Schema::uuid("In whose name, for API_KEY.")),
        ],
    );
    Schema::answer(
        "An event.",
        [
            required("id", Schema::uuid("The event's id.")),
            required(
                "type",
                Schema::open("What happened.", EventType::PreAuthorizationCreated),
            ),
            required("at", Schema::timestamp("When it happened.")),
            required(
                "version",
                Schema::integer("The operation's version after it.", 1),
            ),
            required("actor", actor),
        ],
    )
}

pub(super) fn direct_advance() -> Schema {
    let tax = "What is withheld; at most amount less 500, and 0 when absent.";
    let invoice = Schema::request(
        "The invoice.",
        [
            required(
                "amount",
                Schema::amount("Gross amount in reais.", 12_500.5)
                    .at_least(500)
                    .at_most(10_000_000),
            ),
            required("dueDate", shared::due_date()),
            optional("number", shared::invoice_number().visible(1, 50)),
            optional("withheldTaxAmount", Schema::amount(tax, 0.0).at_least(0)),
        ],
    );
    let others = [
        required("invoice", invoice),
        optional(
            "externalReference",
            shared::external_reference().visible(1, 100),
        ),
    ];
    Schema::request(
        "An advance without an offer.",
        parties().into_iter().chain(others),
    )
}

fn reason_field() -> Field {
    let reason = Schema::text("Why; a default text otherwise.", "Sem interesse").visible(1, 255);
    optional("reason", reason)
}

pub(super) fn release() -> Schema {
    let net = money(
        "What the supplier receives; at most amount less withheld tax.",
        12_100.0,
    );
    Schema::request("What was calculated.", [required("netAmount", net)])
}

pub(super) fn reproval() -> Schema {
    let by = Schema::text("Who refuses.", "COMPANY").closed(&["COMPANY", "PLATFORM"]);
    Schema::request(
        "Who refuses, and why.",
        [required("by", by), reason_field()],
    )
}

pub(super) fn extension() -> Schema {
    let [id, due_date, total] = shared::extension_fields();
    let status = Schema::open_words(
        "Where it stands.",
        vec!["OPEN", "CONCLUDED", "CANCELED"],
        "OPEN",
    );
    Schema::answer(
        "A later due date of a boleto.",
        [
            id,
            required("operationId", Schema::integer("The operation's id.", 42)),
            required("status", status),
            due_date,
            total,
        ],
    )
}

pub(super) fn new_extension() -> Schema {
    let due_date = "After the boleto's, and at most 180 days from today.";
    Schema::request(
        "The new boleto.",
        [
            required("newDueDate", Schema::date(due_date, "2027-02-20")),
            required("totalAmount", money("Its total.", 12_900.0)),
        ],
    )
}
