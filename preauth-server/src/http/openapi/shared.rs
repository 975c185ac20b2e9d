//! Schemas and parameters of both APIs.

use preauth_core::ErrorCode;
use preauth_core::port::PageRequest;
use preauth_core::value::Status;

use super::document::Parameter;
use super::schema::{Schema, optional, required};

/// The maximum of a withheld tax: the greatest amount of an invoice less the least.
pub(in crate::http) const MAX_WITHHELD_TAX: i64 = 10_000_000 - 500;

pub(in crate::http) const CNPJ: &str = "Tax id, digits and upper-case letters only.";

/// The contract's "Error body".
pub(in crate::http) fn error_body() -> Schema {
    let (errors, details) = errors();
    Schema::answer(
        "The body of every answer that is not a success.",
        [required("errors", errors), optional("details", details)],
    )
}

/// The errors of a refusal, and their details.
pub(in crate::http) fn errors() -> (Schema, Schema) {
    let item = Schema::answer(
        "One thing that is wrong.",
        [
            required(
                "code",
                Schema::text(
                    "The code that callers branch on; more may be added: accept unknown ones.",
                    ErrorCode::ValidationError.as_str(),
                ),
            ),
            required(
                "message",
                Schema::text(
                    "A sentence in Portuguese, for people; it may change at any time.",
                    "A requisição tem campos inválidos.",
                ),
            ),
        ],
    );
    let detail = Schema::answer(
        "Details of the error at the same index.",
        [
            optional(
                "anticipationId",
                Schema::integer(
                    "For PRE_AUTH_DUPLICATE_INVOICE, and IDEMPOTENCY_KEY_REUSED of a pre-authorization, at index 0: the operation in the way.",
                    41,
                ),
            ),
            optional(
                "field",
                Schema::text(
                    "Where the problem is: for VALIDATION_ERROR, and for other refusals of one field.",
                    "invoice.dueDate",
                ),
            ),
        ],
    );
    (
        Schema::array("One, or one per problem for VALIDATION_ERROR.", item).items(1, 50),
        Schema::array("Structured facts.", detail),
    )
}

/// A page of `items`.
pub(in crate::http) fn page_of(description: &str, items: Schema, pagination: Schema) -> Schema {
    Schema::answer(
        description,
        [
            required("data", Schema::array("The entries of this page.", items)),
            required("pagination", pagination),
        ],
    )
}

pub(in crate::http) fn pagination() -> Schema {
    Schema::answer(
        "Where the page stands among all pages.",
        [
            required(
                "page",
                Schema::integer("The number of this page.", 1).at_least(1),
            ),
            required(
                "limit",
                Schema::integer("The most entries a page may have.", 20).at_least(1),
            ),
            required(
                "total",
                Schema::integer("Entries on all pages together.", 1).at_least(0),
            ),
            required(
                "totalPages",
                Schema::integer("Pages that have entries.", 1).at_least(0),
            ),
        ],
    )
}

/// An invoice in answers about operations.
pub(in crate::http) fn invoice() -> Schema {
    Schema::answer(
        "The invoice that is advanced.",
        [
            required("amount", Schema::amount("Gross amount in reais.", 12_500.5)),
            required("dueDate", due_date()),
            required("number", invoice_number().nullable()),
            required(
                "withheldTaxAmount",
                Schema::amount("The withheld tax; 0 when none was sent.", 0.0),
            ),
        ],
    )
}

pub(in crate::http) fn due_date() -> Schema {
    Schema::date(
        "When the company pays the invoice, YYYY-MM-DD.",
        "2027-01-20",
    )
}

/// Null for a direct advance without a number.
pub(in crate::http) fn invoice_number() -> Schema {
    Schema::text("Number of the invoice.", "NF-1")
}

pub(in crate::http) fn external_reference() -> Schema {
    Schema::text(
        "The ERP's own reference for the operation; echoed unchanged.",
        "PEDIDO-1",
    )
}

/// The extension of a boleto, in events and in operations.
pub(in crate::http) fn extension_fields() -> [super::schema::Field; 3] {
    [
        required("id", Schema::integer("The extension's id.", 3)),
        required(
            "newDueDate",
            Schema::date("New due date of the boleto.", "2027-02-20"),
        ),
        required(
            "totalAmount",
            Schema::amount("Total of the extended boleto.", 12_900.0),
        ),
    ]
}

/// `{id}` of a record with a number.
pub(in crate::http) fn numeric_id(description: &str, example: i64) -> Parameter {
    Parameter::path("id", Schema::integer(description, example))
}

/// The header that makes a create idempotent.
pub(in crate::http) fn idempotency_key() -> Parameter {
    Parameter::header("Idempotency-Key", idempotency_key_text())
}

/// An idempotency key.
pub(in crate::http) fn idempotency_key_text() -> Schema {
    Schema::text("The caller's name for this one creation.", "pedido-1-nf")
        .length(8, 100)
        .pattern("^[A-Za-z0-9._:-]+$")
}

/// The parameters of every list.
pub(in crate::http) fn paging() -> [Parameter; 2] {
    let page = Schema::integer("Which page.", 1).at_least(1).by_default(1);
    let limit = Schema::integer("Entries on a page.", 20)
        .at_least(1)
        .at_most(PageRequest::MAX_LIMIT.into())
        .by_default(20);
    [
        Parameter::query("page", page),
        Parameter::query("limit", limit),
    ]
}

/// The filters of lists of operations.
pub(in crate::http) fn operation_filters() -> [Parameter; 2] {
    let reference = "Exactly what was sent on creation.";
    let status = Schema::one_of("", Status::ALL, Status::InPreAuth);
    let statuses = "Repeat the parameter for several values.";
    [
        Parameter::query(
            "externalReference",
            Schema::text(reference, "PEDIDO-1").storable(1, 100),
        ),
        Parameter::query("status", Schema::array(statuses, status)),
    ]
}
