//! Operations, their actions, and extensions of their boletos.

use preauth_core::ErrorCode;

use crate::http::openapi::described::Described;
use crate::http::openapi::document::Content;
use crate::http::openapi::listed::Listed;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shared;
use crate::http::platform::sections::OPERATIONS;

use super::{at, keyed, number, paged, schemas};

/// An action: its last path segment, its name, its effect, and its body.
type Action = (&'static str, &'static str, &'static str, Body);

enum Body {
    Nothing,
    Optional(&'static str),
    Required(&'static str),
}

const ACTIONS: [Action; 12] = [
    (
        "request",
        "requestOperation",
        "The supplier requests the advance",
        Body::Nothing,
    ),
    (
        "decline",
        "declineOperation",
        "The supplier declines the offer",
        Body::Optional("Reason"),
    ),
    (
        "withdraw",
        "withdrawOperation",
        "The company takes the offer back",
        Body::Optional("Reason"),
    ),
    (
        "verify",
        "verifyOperation",
        "The platform has verified a direct advance",
        Body::Nothing,
    ),
    (
        "approve",
        "approveOperation",
        "The company approves",
        Body::Nothing,
    ),
    (
        "release",
        "releaseOperation",
        "The platform releases for payment",
        Body::Required("Release"),
    ),
    (
        "pay",
        "payOperation",
        "The supplier was paid",
        Body::Nothing,
    ),
    (
        "return-payout",
        "returnPayout",
        "The bank returned the payment",
        Body::Nothing,
    ),
    (
        "bill",
        "billOperation",
        "The boleto was issued",
        Body::Nothing,
    ),
    (
        "conclude",
        "concludeOperation",
        "The boleto was paid",
        Body::Nothing,
    ),
    (
        "reprove",
        "reproveOperation",
        "The company or the platform refuses",
        Body::Required("Reproval"),
    ),
    (
        "reopen",
        "reopenOperation",
        "The platform reopens what was reproved, where it was refused",
        Body::Nothing,
    ),
];

pub(super) fn all() -> Vec<Described> {
    let mut all = operations();
    all.extend(ACTIONS.map(act));
    all.extend(extensions());
    all
}

fn described(
    method: &'static str,
    path: &str,
    operation: &'static str,
    summary: &'static str,
) -> Described {
    Described::new(method, at(path), OPERATIONS.name, operation, summary)
}

fn of_operation(described: Described) -> Described {
    number(
        described,
        "The operation's id.",
        ErrorCode::AnticipationNotFound,
    )
}

fn operations() -> Vec<Described> {
    let [reference, status] = shared::operation_filters();
    let find = described(
        "get",
        "operations/{id}",
        "getOperation",
        "Get an operation with its history",
    );
    vec![
        paged(described("get", "operations", "listOperations", "List everybody's operations"))
            .parameter(reference)
            .parameter(status)
            .answers(200, "Most recent first.", schemas::named("OperationList")),
        keyed(described("post", "operations", "addOperation", "A supplier advances an invoice directly")
            .note("Held to the rules of its values, to the duplicate rule and to \"supplier is not oneself\"; not to due-date range, credit and block list.")
            .body("The advance.", schemas::named("DirectAdvance"))
            .answers(201, "Begun, IN_VERIFICATION.", schemas::named("Operation")))
            .refuses(&[
                ErrorCode::ResourceNotFound,
                ErrorCode::ResourceConflict,
                ErrorCode::PreAuthDuplicateInvoice,
                ErrorCode::PreAuthSupplierSelf,
            ]),
        of_operation(find).answers(200, "The operation.", schemas::named("OperationDetails")),
        invoice_file(),
    ]
}

fn invoice_file() -> Described {
    let types = ["application/pdf", "application/xml", "text/xml"];
    let file = Content::new(Schema::binary("The file.", "%PDF-1.7"));
    let file = types.map(|media_type| (media_type, file.clone()));
    of_operation(described(
        "get",
        "operations/{id}/invoice-file",
        "getInvoiceFile",
        "Get the file that came with an offer, byte for byte",
    ))
    .note("It comes as an attachment, in the type that was declared. Whoever made it is a stranger to the platform: open it with care.")
    .answers_content(200, "The file.", Listed::from_iter(file))
    .refuses(&[ErrorCode::ResourceNotFound])
}

fn act((segment, operation, summary, body): Action) -> Described {
    let path = format!("operations/{{id}}/{segment}");
    let described = of_operation(described("post", &path, operation, summary))
        .answers(200, "The operation as moved.", schemas::named("Operation"))
        .refuses(&[ErrorCode::AnticipationInvalidTransition]);
    let described = match body {
        Body::Nothing => described.reads_body(),
        Body::Optional(name) => {
            described.optional_body("What there is to say.", schemas::named(name))
        }
        Body::Required(name) => described.body("What it needs.", schemas::named(name)),
    };
    if segment == "reopen" {
        return described.refuses(&[ErrorCode::PreAuthDuplicateInvoice]);
    }
    described
}

fn extensions() -> Vec<Described> {
    let of_one = "operations/{id}/extensions";
    let list = described(
        "get",
        of_one,
        "listExtensions",
        "List an operation's extensions",
    );
    let add = described(
        "post",
        of_one,
        "addExtension",
        "Ask for a later due date of the boleto",
    );
    let invalid = &[ErrorCode::AnticipationInvalidTransition];
    let one = |method, path, operation, summary| {
        let described = described(method, path, operation, summary);
        number(
            described,
            "The extension's id.",
            ErrorCode::ResourceNotFound,
        )
        .answers(200, "The extension.", schemas::named("Extension"))
    };
    vec![
        paged(of_operation(list)).answers(200, "Newest first.", schemas::named("ExtensionList")),
        keyed(
            of_operation(add)
                .note("The boleto must be out (TO_RECEIVE), with no other extension open.")
                .body("The new boleto.", schemas::named("NewExtension"))
                .answers(201, "Open.", schemas::named("Extension")),
        )
        .refuses(invalid),
        one("get", "extensions/{id}", "getExtension", "Get an extension"),
        one(
            "post",
            "extensions/{id}/conclude",
            "concludeExtension",
            "The extension was paid",
        )
        .refuses(invalid),
        one(
            "post",
            "extensions/{id}/cancel",
            "cancelExtension",
            "The extension is cancelled",
        )
        .refuses(invalid),
    ]
}
