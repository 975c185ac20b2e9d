//! The operations.

use preauth_core::ErrorCode;
use preauth_core::value::{EventType, Scope};
use preauth_core::wire::{MAX_EVENT_WAIT_SECONDS, path};

use super::{API_KEY, EVENTS, PRE_AUTHORIZATIONS, schemas};
use crate::http::openapi::described::Described;
use crate::http::openapi::document::{Content, Parameter, Requirement};
use crate::http::openapi::headers;
use crate::http::openapi::listed::Listed;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shared;

/// The refusals of an offer itself, whether it is made or only tried.
const OF_OFFERS: &[ErrorCode] = &[
    ErrorCode::PreAuthOnlyConstrutora,
    ErrorCode::PreAuthDuplicateInvoice,
    ErrorCode::AnticipationInvalidDueDate,
    ErrorCode::AnticipationDueDateTooFar,
    ErrorCode::CreditAnalysisDueDateExceeded,
    ErrorCode::CreditAnalysisInvoiceAmountExceeded,
    ErrorCode::PreAuthSupplierNameRequired,
    ErrorCode::PreAuthSupplierSelf,
    ErrorCode::PreAuthSupplierBlocked,
];

/// In the order of the contract; then ours.
pub(super) fn all() -> [Described; 7] {
    [
        list(),
        create(),
        find(),
        cancel(),
        batch(),
        validate(),
        events(),
    ]
}

fn list() -> Described {
    let [reference, status] = shared::operation_filters();
    let [page, limit] = shared::paging();
    described(
        "get",
        path::PRE_AUTHORIZATIONS,
        "listPreAuthorizations",
        "List operations",
    )
    .note("Most recent first, direct advances included. A head office's key sees its branches' operations too, a branch's key its own.")
    .security(scope(Scope::PreauthRead))
    .parameter(reference)
    .parameter(status)
    .parameter(page)
    .parameter(limit)
    .answers(200, "One page.", schemas::named("PreAuthorizationList"))
    .refuses(&[ErrorCode::ValidationError])
}

fn create() -> Described {
    described(
        "post",
        path::PRE_AUTHORIZATIONS,
        "createPreAuthorization",
        "Offer a supplier an advance",
    )
    .note(
        "The caller's head office is the payer; the supplier is notified, or invited if it is new.\n\n\
         **Idempotency.** With an `Idempotency-Key`, the same key and the same content answer what the first request answered, byte for byte, \
         with `Idempotency-Replayed: true`. The same key with other content is 409 `IDEMPOTENCY_KEY_REUSED`; while the first request is still \
         being processed, 409 `IDEMPOTENCY_IN_PROGRESS`. Content is compared as understood: white space, the order of fields, unknown fields \
         and 1000 or 1000.0 make no difference. Keys belong to the head office and are remembered for 30 days (configurable) from the first \
         answer. Only a 201 is remembered: a refusal created nothing, so the same key may be sent again and is decided anew. A file counts \
         with its name, type and content.\n\n\
         **Invoice file.** A PDF has `%PDF-` within its first 1,024 bytes; an XML document is well formed, has no internal DTD subset, and \
         refers to no entities but the predefined ones. The content must be what the part's `Content-Type` names. While too much is coming in, \
         an upload waits up to 5 seconds and then receives 503 with `Retry-After`.",
    )
    .security(scope(Scope::PreauthWrite))
    .parameter(shared::idempotency_key())
    .body("The offer and its supplier; as a form it may bring the invoice file.", schemas::named("CreatePreAuthorization"))
    .or_body(
        Content::FORM,
        Content::form(
            schemas::named("CreatePreAuthorizationForm"),
            "invoiceFile",
            "application/pdf, application/xml, text/xml",
        ),
    )
    .answers(201, "Created, or created before by the same key.", schemas::named("PreAuthorization"))
    .header(headers::REPLAYED)
    .refuses(OF_OFFERS)
    .refuses(&[
        ErrorCode::IdempotencyKeyInvalid,
        ErrorCode::IdempotencyKeyReused,
        ErrorCode::IdempotencyInProgress,
        ErrorCode::FileTooLarge,
        ErrorCode::InvoiceFileNameTooLong,
        ErrorCode::InvoiceFileType,
        ErrorCode::InvalidFileType,
        ErrorCode::FileQuotaExceeded,
    ])
}

fn find() -> Described {
    described(
        "get",
        path::PRE_AUTHORIZATION_ROUTE,
        "getPreAuthorization",
        "Get an operation with its current status",
    )
    .note("For reconciliation when an event did not arrive.")
    .security(scope(Scope::PreauthRead))
    .parameter(id())
    .answers(200, "The operation.", schemas::named("PreAuthorization"))
    .refuses(&[ErrorCode::ValidationError, ErrorCode::AnticipationNotFound])
}

fn cancel() -> Described {
    described(
        "post",
        path::CANCEL_ROUTE,
        "cancelPreAuthorization",
        "Cancel an offer that the supplier has not requested",
    )
    .note("No body. An operation that was cancelled through this API before is answered again, unchanged and without a new event.")
    .security(scope(Scope::PreauthWrite))
    .parameter(id())
    .answers(201, "The operation, now REPROVED.", schemas::named("PreAuthorization"))
    .refuses(&[
        ErrorCode::ValidationError,
        ErrorCode::AnticipationNotFound,
        ErrorCode::AnticipationInvalidTransition,
        ErrorCode::PreAuthAlreadyRequested,
        ErrorCode::PreAuthAlreadyClosed,
    ])
}

fn batch() -> Described {
    described(
        "post",
        path::BATCH,
        "createPreAuthorizations",
        "Offer many advances",
    )
    .note(
        "1 to 100 creates without files, each under an idempotency key of its own; it counts as one request. Each is judged and committed on \
         its own, exactly as if it were sent alone after those before it: one that is refused is no obstacle to the others. After a lost \
         answer send the same batch again: what was created is answered with `replayed`, and the rest is made. An item whose `status` is 500 may \
         have been created; send it again under its key. Codes of items are those of a single create.",
    )
    .security(scope(Scope::PreauthWrite))
    .body("The creates.", schemas::named("CreateBatch"))
    .answers(200, "The answer to each create; some may be refusals.", schemas::named("BatchResults"))
    .refuses(&[ErrorCode::PreAuthOnlyConstrutora])
}

fn validate() -> Described {
    described(
        "post",
        path::VALIDATE,
        "validatePreAuthorization",
        "Try a create without making it",
    )
    .note(
        "The body of a create, as JSON. The answer is what a create would be told now, and nothing is kept but the count of the key's requests. \
         A moment later it may be otherwise.",
    )
    .security(scope(Scope::PreauthWrite))
    .body("The offer and its supplier.", schemas::named("CreatePreAuthorization"))
    .answers(200, "It would be accepted.", schemas::named("Validation"))
    .refuses(OF_OFFERS)
}

fn events() -> Described {
    let [_, limit] = shared::paging();
    let after =
        "The `pagination.next` of an earlier answer to a key of the same company, unchanged.";
    let types = "Only these; repeat the parameter for several values.";
    let event_type = Schema::one_of("", EventType::ALL, EventType::PreAuthorizationCreated);
    let wait = "The longest wait for the next event, in seconds, if there is none yet. The answer may come sooner.";
    Described::new(
        "get",
        path::EVENTS,
        EVENTS.name,
        "listEvents",
        "Read events on request",
    )
    .note(
        "For systems that nobody can reach from outside: the events that webhooks would carry, byte for byte, whether or not the company has an \
         endpoint and whatever types it chose; `webhook.test` is never among them. A head office's key reads those of all its companies, a branch's \
         key those of the records in which the branch is the payer or the supplier.\n\n\
         Oldest first, and of one record in the order in which things happened. Without `after` it begins at the oldest event that is kept: 30 days \
         (configurable). Store `pagination.next` once the events before it are handled, and send it as `after`. No event is ever skipped; those that \
         were handled just before a crash come again, so deduplicate by `id`. While `hasMore` is true ask again at once, also after an answer without \
         events: it may have gone over others. Otherwise ask with `wait`.\n\n\
         Each call counts once in the key's window, however long it waits. When half of all connections wait, further calls are answered at once.",
    )
    .security(scope(Scope::PreauthRead))
    .parameter(Parameter::query("after", Schema::text(after, schemas::CURSOR)))
    .parameter(limit)
    .parameter(Parameter::query("type", Schema::array(types, event_type)))
    .parameter(Parameter::query(
        "wait",
        Schema::integer(wait, 30)
            .at_least(0)
            .at_most(MAX_EVENT_WAIT_SECONDS.into())
            .by_default(0),
    ))
    .answers(200, "The next events; perhaps none.", schemas::named("EventList"))
    .refuses(&[ErrorCode::ValidationError, ErrorCode::EventCursorExpired])
}

fn described(
    method: &'static str,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Described {
    Described::new(method, path, PRE_AUTHORIZATIONS.name, id, summary)
}

fn scope(scope: Scope) -> Vec<Requirement> {
    vec![Listed::from_iter([(API_KEY, vec![scope.as_str()])])]
}

fn id() -> Parameter {
    shared::numeric_id("The `id` that creation answered.", 42)
}
