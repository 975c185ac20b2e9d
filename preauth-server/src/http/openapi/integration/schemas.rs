//! The schemas of the integration API, with the names of the contract and the code.

use preauth_core::value::{EventType, Origin, PaymentOrderStatus, Stage, Status};
use preauth_core::wire::MAX_BATCH_ITEMS;

use crate::http::openapi::schema::{Schema, Shapes, optional, required};
use crate::http::openapi::shared;

/// Everything under `components/schemas`.
pub(super) const ALL: &Shapes = &[
    ("PreAuthorization", pre_authorization),
    ("PreAuthorizationList", pre_authorization_list),
    ("Pagination", shared::pagination),
    ("Party", party),
    ("SupplierParty", supplier_party),
    ("Invoice", shared::invoice),
    ("CreatePreAuthorization", create),
    ("CreatePreAuthorizationForm", create_form),
    ("CreateSupplier", create_supplier),
    ("CreateInvoice", create_invoice),
    ("CreateBatch", create_batch),
    ("CreateBatchItem", create_batch_item),
    ("BatchResults", batch_results),
    ("BatchResult", batch_result),
    ("Validation", validation),
    ("ErrorBody", shared::error_body),
    ("EventList", event_list),
    ("EventPagination", event_pagination),
    ("EventEnvelope", envelope),
    ("OperationEventData", operation_event_data),
    ("InvoiceReceivedData", invoice_received_data),
    ("PaymentOrderEventData", payment_order_event_data),
    ("WebhookTestData", webhook_test_data),
];

/// An example.
pub(super) const CURSOR: &str = "AQAAAAAAAAAqAZfzwnsafDOdLlpve4ydDtM3mB8sTz1bC4oR6qk0uXY";

/// A reference to one of them.
pub(super) fn named(name: &str) -> Schema {
    Schema::named(ALL, name)
}

fn pre_authorization() -> Schema {
    Schema::answer(
        "A pre-authorization, or an advance that the supplier began directly.",
        [
            required(
                "id",
                Schema::integer("The `anticipationId` of webhooks.", 42),
            ),
            required(
                "status",
                Schema::open("The current status.", Status::InPreAuth),
            ),
            required("externalReference", shared::external_reference().nullable()),
            required("payer", named("Party")),
            required("supplier", named("SupplierParty")),
            required("invoice", named("Invoice")),
            required(
                "expiresAt",
                Schema::timestamp(
                    "Until when the supplier may request the advance; null for direct advances.",
                )
                .nullable(),
            ),
            required("createdAt", Schema::timestamp("When it was created.")),
        ],
    )
}

fn pre_authorization_list() -> Schema {
    let pagination = named("Pagination");
    shared::page_of(
        "One page of operations, most recent first.",
        named("PreAuthorization"),
        pagination,
    )
}

fn party() -> Schema {
    Schema::answer(
        "The construction company that pays.",
        [
            required(
                "cnpj",
                Schema::text("Tax id, digits only.", "11222333000181"),
            ),
            required(
                "name",
                Schema::text("Legal name.", "Construtora Exemplo S.A."),
            ),
        ],
    )
}

fn supplier_party() -> Schema {
    let name = Schema::text(
        "Name registered on the platform.",
        "Fornecedor Exemplo Ltda.",
    );
    Schema::answer(
        "The supplier that receives the advance.",
        [
            required("cnpj", Schema::text(shared::CNPJ, "11444777000161")),
            required("name", name.nullable()),
        ],
    )
}

fn create() -> Schema {
    Schema::request(
        "An offer. Unknown fields are ignored; null for an optional field is as good as absent.",
        [
            required("supplier", named("CreateSupplier")),
            required("invoice", named("CreateInvoice")),
            optional(
                "externalReference",
                shared::external_reference().visible(1, 100),
            ),
        ],
    )
}

fn create_form() -> Schema {
    let file = "PDF or XML, up to 10 MB (10 x 2^20 bytes), in a part with a file name of up to 255 characters.";
    Schema::form(
        "An offer as a form: `supplier` and `invoice` are JSON texts, called `application/json`, `text/plain` or nothing. Unknown text \
         parts are ignored; no part stands twice, and no file in another part.",
        [
            required("supplier", named("CreateSupplier")),
            required("invoice", named("CreateInvoice")),
            optional(
                "externalReference",
                shared::external_reference().visible(1, 100),
            ),
            optional("invoiceFile", Schema::binary(file, "%PDF-1.7")),
        ],
    )
}

fn create_supplier() -> Schema {
    let name = "Legal name. Required, with contactName, when the CNPJ is not registered and your company has not invited it yet; ignored otherwise.";
    let contact = "Whom to speak to. Required whenever name is.";
    Schema::request(
        "The supplier that receives the offer.",
        [
            required("cnpj", Schema::text("Tax id, with or without mask, alphanumeric ones included; check digits are verified.", "11.444.777/0001-61").typed_cnpj()),
            required("email", Schema::email("Contact for this operation; no leading, trailing or double dot.").typed_email()),
            optional("name", Schema::text(name, "Fornecedor Exemplo Ltda.").visible(2, 255)),
            optional("contactName", Schema::text(contact, "Bruno Lima").visible(2, 255)),
            optional("phone", Schema::text("Telephone.", "+55 11 5555-0100").visible(0, 20)),
        ],
    )
}

fn create_invoice() -> Schema {
    let due_date =
        "5 to 180 calendar days from today in São Paulo, and within the company's credit limit.";
    Schema::request(
        "The invoice to be advanced.",
        [
            required(
                "amount",
                Schema::amount("Gross amount in reais.", 12_500.5)
                    .at_least(500)
                    .at_most(10_000_000),
            ),
            required(
                "dueDate",
                Schema::date(due_date, "2027-01-20").pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
            ),
            required("number", shared::invoice_number().visible(1, 50)),
            optional(
                "withheldTaxAmount",
                Schema::amount(
                    "The withheld tax; at most amount less 500, and 0 when absent.",
                    0.0,
                )
                .between(0, shared::MAX_WITHHELD_TAX),
            ),
        ],
    )
}

fn create_batch() -> Schema {
    let items = Schema::array("The creates.", named("CreateBatchItem"));
    Schema::request(
        "Creates without files, 1 MiB (2^20 bytes) in all.",
        [required("items", items.items(1, MAX_BATCH_ITEMS))],
    )
}

fn create_batch_item() -> Schema {
    Schema::request(
        "One create.",
        [
            required("idempotencyKey", shared::idempotency_key_text()),
            required("preAuthorization", named("CreatePreAuthorization")),
        ],
    )
}

fn batch_results() -> Schema {
    let results = Schema::array(
        "One for each item, in the order of the items.",
        named("BatchResult"),
    );
    Schema::answer(
        "The answer to each create.",
        [required("results", results.items(1, MAX_BATCH_ITEMS))],
    )
}

fn batch_result() -> Schema {
    let (errors, details) = shared::errors();
    let replayed = "True if an earlier request created it under the same key; absent otherwise.";
    Schema::answer(
        "The answer that a single create would have been given: the operation, or errors.",
        [
            required(
                "index",
                Schema::integer("The item's place, from 0.", 0).at_least(0),
            ),
            required(
                "status",
                Schema::integer("The status of a single create.", 201),
            ),
            optional("replayed", Schema::boolean(replayed, true)),
            optional("preAuthorization", named("PreAuthorization")),
            optional("errors", errors),
            optional("details", details),
        ],
    )
}

fn validation() -> Schema {
    let known = "Whether your company knows it, so that supplier.name and supplier.contactName are not needed.";
    let ignored =
        "The first 20 fields of the request that a create does not read, such as misspelt ones.";
    let supplier = Schema::answer(
        "The supplier as the offer would show it.",
        [
            required("cnpj", Schema::text(shared::CNPJ, "11444777000161")),
            required("name", Schema::text("Name.", "Fornecedor Exemplo Ltda.")),
            required("registered", Schema::boolean(known, true)),
        ],
    );
    Schema::answer(
        "A create that would be accepted.",
        [
            required(
                "valid",
                Schema::boolean("Always true: refusals are those of a create.", true),
            ),
            required(
                "expiresAt",
                Schema::timestamp("Until when the supplier could request the advance."),
            ),
            required("supplier", supplier),
            required(
                "ignoredFields",
                Schema::array(
                    ignored,
                    Schema::text("The path of a field.", "invoice.withheldTax"),
                ),
            ),
        ],
    )
}

fn event_list() -> Schema {
    let pagination = named("EventPagination");
    shared::page_of(
        "Some events, oldest first.",
        named("EventEnvelope"),
        pagination,
    )
}

fn event_pagination() -> Schema {
    let next = "The cursor after these events; send it as `after`. Opaque, of one company alone, 55 characters today.";
    let has_more = "Whether there are further events already, of any type: ask again at once.";
    Schema::answer(
        "Where to go on.",
        [
            required("next", Schema::text(next, CURSOR)),
            required("hasMore", Schema::boolean(has_more, false)),
        ],
    )
}

fn envelope() -> Schema {
    // Any type of data is valid, new ones included; a union of schemas would break clients at the
    // first new one.
    let data = Schema::answer("Content; its shape depends on the type.", []);
    let data = data.shown_as(&named("OperationEventData"));
    Schema::answer(
        "An event.",
        [
            required("id", Schema::uuid("Equal on every attempt and resend.")),
            required(
                "type",
                Schema::open("The event's type.", EventType::PreAuthorizationCreated),
            ),
            required("createdAt", Schema::timestamp("When it happened.")),
            required("data", data),
        ],
    )
}

/// The data of `pre_authorization.*` and `anticipation.*`.
pub(super) fn operation_event_data() -> Schema {
    let reason = "Why it was closed, when this event closed it.";
    Schema::answer(
        "`data` of pre_authorization.* and anticipation.* events.",
        [
            required("anticipationId", Schema::integer("The operation's id.", 42)),
            required(
                "status",
                Schema::open("Status after the event.", Status::InPreAuth),
            ),
            required(
                "origin",
                Schema::open(
                    "Born from an offer, or begun by the supplier.",
                    Origin::PreAuth,
                ),
            ),
            required("invoice", event_invoice()),
            required(
                "netAmount",
                Schema::amount(
                    "Net amount to the supplier; null until it is calculated.",
                    12_100.0,
                )
                .null(),
            ),
            required("payer", named("Party")),
            required("supplier", named("SupplierParty")),
            required("externalReference", shared::external_reference().nullable()),
            optional("reason", Schema::text(reason, "").null()),
            optional(
                "stage",
                Schema::open(
                    "At which stage it was closed, when this event closed it.",
                    Stage::PreAuth,
                )
                .null(),
            ),
            optional(
                "extension",
                Schema::answer(
                    "Only in anticipation.extension_* events.",
                    shared::extension_fields(),
                ),
            ),
        ],
    )
}

fn event_invoice() -> Schema {
    Schema::answer(
        "The invoice.",
        [
            required("amount", Schema::amount("Gross amount in reais.", 12_500.5)),
            required("dueDate", shared::due_date()),
            required("number", shared::invoice_number().nullable()),
        ],
    )
}

fn invoice_received_data() -> Schema {
    Schema::answer(
        "`data` of invoice.received.",
        [
            required(
                "invoiceId",
                Schema::integer("The invoice's id on the platform.", 7),
            ),
            required("invoice", event_invoice()),
            required("payer", named("Party")),
            required("supplier", named("SupplierParty")),
        ],
    )
}

fn payment_order_event_data() -> Schema {
    let day = Schema::date("The day of payment, once it is known.", "2027-01-15");
    Schema::answer(
        "`data` of payment_order.* events.",
        [
            required("paymentOrderId", Schema::integer("The order's id.", 5)),
            required(
                "status",
                Schema::open("Status after the event.", PaymentOrderStatus::Created),
            ),
            required("amount", Schema::amount("How much is to be paid.", 900.0)),
            required("scheduledFor", day.nullable()),
            required(
                "anticipationId",
                Schema::integer("The operation it belongs to, if any.", 42).nullable(),
            ),
            required("payer", named("Party")),
            required("supplier", named("SupplierParty")),
            required(
                "reason",
                Schema::text("Why it was cancelled or reproved.", "").null(),
            ),
        ],
    )
}

fn webhook_test_data() -> Schema {
    let message = Schema::text("For the readers of the receiver's log.", "Evento de teste");
    Schema::answer("`data` of webhook.test.", [optional("message", message)])
}
