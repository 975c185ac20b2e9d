//! Converts between the domain's values and the shapes of the wire format.
//!
//! Requests become commands, and every problem of every field is reported. Domain values become
//! wire shapes, which cannot fail.

use preauth_core::ReceivedInvoice;
use preauth_core::operation::{
    AmountProblem, Extension, Invoice, InvoiceAmounts, Offer, OfferedSupplier, Operation, Party,
};
use preauth_core::port::{
    InvoiceEvent, OperationEvent, OperationPage, OrderEvent, PageRequest, Render,
};
use preauth_core::value::{
    BoundedText, Cnpj, CompanyId, Decimal, DueDate, Email, EventId, EventType, TextError,
    Timestamp, file_name_shows,
};
use preauth_core::wire;
use serde::Serialize;

use super::fields::{Fields, Problems};
use super::json::Json;
use super::messages;
use super::problem::{Defect, Problem};

/// Which rules apply to the texts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// The rules of this build: every character is visible.
    Sent,
    /// The rules of earlier builds, which may have answered the same request before.
    Stored,
}

impl Texts {
    fn read<T: BoundedText>(self) -> fn(&str) -> Result<T, TextError> {
        match self {
            Self::Sent => T::parse,
            Self::Stored => T::from_stored,
        }
    }
}

/// A create that was read, without the text it was read from.
pub(super) type ReadOffer = Result<Offer, Unreadable>;

/// A create with problems.
pub(super) struct Unreadable {
    pub(super) problems: Vec<Problem>,
    /// What an earlier build would have read, which refused no character that does not show. The answer
    /// that it gave under the same key is repeated.
    pub(super) as_before: Option<Box<Offer>>,
}

/// Reads a create request, before the file sent with it under `file_name` is attached.
pub(super) fn read_offer(tree: &Json, file_name: Option<&str>, payer: CompanyId) -> ReadOffer {
    offer(tree, file_name, payer, Texts::Sent).map_err(|problems| {
        let is_by_character = problems.iter().all(Problem::is_invisible_character);
        let as_before = is_by_character.then(|| offer(tree, None, payer, Texts::Stored).ok());
        Unreadable {
            problems,
            as_before: as_before.flatten().map(Box::new),
        }
    })
}

/// The fields of a create that are read; others are ignored.
const FIELDS_OF_CREATES: [&str; 12] = [
    "supplier",
    "supplier.cnpj",
    "supplier.email",
    "supplier.name",
    "supplier.contactName",
    "supplier.phone",
    "invoice",
    "invoice.amount",
    "invoice.dueDate",
    "invoice.number",
    "invoice.withheldTaxAmount",
    "externalReference",
];

/// The first fields of a create request that nobody reads, as misspelt optional ones are.
pub(super) fn ignored_fields(tree: &Json) -> Vec<String> {
    tree.members_besides(&FIELDS_OF_CREATES)
}

/// Reads a create request (contract, "Create request body"), before the file sent with it under
/// `file_name` is attached.
pub(super) fn offer(
    tree: &Json,
    file_name: Option<&str>,
    payer: CompanyId,
    texts: Texts,
) -> Result<Offer, Vec<Problem>> {
    let mut problems = Problems::default();
    let offer = Fields::body(tree, &mut problems).and_then(|body| {
        let supplier = body
            .object("supplier", &mut problems)
            .and_then(|fields| supplier(fields, texts, &mut problems));
        let invoice = body
            .object("invoice", &mut problems)
            .and_then(|fields| invoice(fields, true, texts, &mut problems));
        let external_reference =
            body.optional_text("externalReference", texts.read(), &mut problems);
        Some(Offer {
            payer,
            supplier: supplier?,
            invoice: invoice?,
            external_reference,
            file: None,
        })
    });
    if let (Texts::Sent, Some(Err(error))) = (texts, file_name.map(file_name_shows)) {
        problems.add("invoiceFile", error.into());
    }
    problems.unless_any(offer)
}

fn supplier(fields: Fields<'_>, texts: Texts, problems: &mut Problems) -> Option<OfferedSupplier> {
    let cnpj = fields.text("cnpj", Cnpj::parse, problems);
    let email = fields.text("email", Email::parse, problems);
    let name = fields.optional_text("name", texts.read(), problems);
    let contact_name = fields.optional_text("contactName", texts.read(), problems);
    // The contract has a maximum for it and no minimum.
    let phone = |text: &str| {
        (!text.trim().is_empty())
            .then(|| texts.read()(text))
            .transpose()
    };
    let phone = fields.optional_text("phone", phone, problems).flatten();
    Some(OfferedSupplier {
        cnpj: cnpj?,
        email: email?,
        name,
        contact_name,
        phone,
    })
}

/// Reads an invoice; only a direct advance may come without a number.
pub(super) fn invoice(
    fields: Fields<'_>,
    number_is_required: bool,
    texts: Texts,
    problems: &mut Problems,
) -> Option<Invoice> {
    let amount = fields.amount("amount", problems);
    let due_date = fields.text("dueDate", DueDate::parse, problems);
    if number_is_required {
        fields.required("number", problems);
    }
    let number = fields.optional_text("number", texts.read(), problems);
    let withheld_tax = fields.optional_number("withheldTaxAmount", problems);
    let amounts = amounts(amount.as_ref(), withheld_tax.as_ref(), problems);
    Some(Invoice {
        amounts: amounts?,
        due_date: due_date?,
        number,
    })
}

fn amounts(
    amount: Option<&Decimal>,
    withheld_tax: Option<&Decimal>,
    problems: &mut Problems,
) -> Option<InvoiceAmounts> {
    let found = match amount.map(|amount| InvoiceAmounts::parse(amount, withheld_tax)) {
        Some(Ok(amounts)) => return Some(amounts),
        Some(Err(found)) => found,
        // Whatever the amount is, the tax is below zero.
        None if withheld_tax.is_some_and(|tax| *tax < Decimal::from_cents(0)) => {
            vec![AmountProblem::WithheldTaxNegative]
        }
        None => Vec::new(),
    };
    for problem in found {
        match problem {
            AmountProblem::AmountOutOfRange => {
                problems.add("invoice.amount", Defect::AmountOutOfRange);
            }
            AmountProblem::WithheldTaxNegative => {
                problems.add("invoice.withheldTaxAmount", Defect::WithheldTaxNegative);
            }
            AmountProblem::WithheldTaxTooHigh => {
                problems.add("invoice.withheldTaxAmount", Defect::WithheldTaxTooHigh);
            }
        }
    }
    None
}

/// An operation as answers show it (contract, "the service").
#[must_use]
pub(super) fn pre_authorization(operation: &Operation) -> wire::PreAuthorization {
    wire::PreAuthorization {
        id: operation.id,
        status: operation.status().into(),
        external_reference: operation
            .external_reference
            .as_ref()
            .map(ToString::to_string),
        payer: party(&operation.payer),
        supplier: supplier_party(&operation.supplier),
        invoice: wire::Invoice {
            amount: operation.invoice.amounts.amount().into(),
            due_date: operation.invoice.due_date,
            number: operation.invoice.number.as_ref().map(ToString::to_string),
            withheld_tax_amount: operation.invoice.amounts.withheld_tax().into(),
        },
        expires_at: operation.expires_at,
        created_at: operation.created_at,
    }
}

/// A page of operations as answers show it (contract, `PreAuthorizationList`).
#[must_use]
pub(super) fn list(page: &OperationPage, request: PageRequest) -> wire::PreAuthorizationList {
    wire::PreAuthorizationList {
        data: page.operations.iter().map(pre_authorization).collect(),
        pagination: wire::Pagination::new(request.page, request.limit, page.total),
    }
}

fn party(party: &Party) -> wire::Party {
    wire::Party {
        cnpj: party.cnpj,
        name: party.name.to_string(),
    }
}

fn supplier_party(party: &Party) -> wire::SupplierParty {
    wire::SupplierParty {
        cnpj: party.cnpj,
        name: Some(party.name.to_string()),
    }
}

/// Renders bodies in the contract's format, to be stored unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct WireRender;

impl Render for WireRender {
    fn reply(&self, operation: &Operation) -> String {
        text(&pre_authorization(operation))
    }

    fn operation_event(&self, event: &OperationEvent<'_>) -> String {
        let operation = event.operation;
        let data = wire::OperationEventData {
            anticipation_id: operation.id,
            status: operation.status().into(),
            origin: operation.origin.into(),
            invoice: wire::EventInvoice {
                amount: operation.invoice.amounts.amount().into(),
                due_date: operation.invoice.due_date,
                number: operation.invoice.number.as_ref().map(ToString::to_string),
            },
            net_amount: operation.net_amount.map(Into::into),
            payer: party(&operation.payer),
            supplier: supplier_party(&operation.supplier),
            external_reference: operation
                .external_reference
                .as_ref()
                .map(ToString::to_string),
            reason: event.reason.map(ToOwned::to_owned),
            stage: event.stage.map(Into::into),
            extension: event.extension.map(extension),
        };
        self::event(event.id, event.event_type, event.at, data)
    }

    fn order_event(&self, event: &OrderEvent<'_>) -> String {
        let order = event.order;
        let data = wire::PaymentOrderEventData {
            payment_order_id: order.id,
            status: order.status.into(),
            amount: order.amount.into(),
            scheduled_for: order.scheduled_for,
            anticipation_id: order.operation,
            payer: party(&order.payer),
            supplier: supplier_party(&order.supplier),
            reason: order.reason.as_ref().map(ToString::to_string),
        };
        self::event(event.id, event.event_type, event.at, data)
    }

    fn invoice_event(&self, event: &InvoiceEvent<'_>) -> String {
        let data = received_invoice(event.invoice);
        self::event(event.id, EventType::InvoiceReceived, event.at, data)
    }

    fn test_event(&self, id: EventId, at: Timestamp) -> String {
        event(id, EventType::WebhookTest, at, webhook_test())
    }

    fn offer_mail(&self, operation: &Operation, _is_invitation: bool) -> String {
        // Stores the data of the mail; its text is rendered when it is sent.
        text(&pre_authorization(operation))
    }
}

/// The body of an event.
fn event<D: Serialize>(id: EventId, event_type: EventType, at: Timestamp, data: D) -> String {
    text(&wire::EventEnvelope {
        id,
        event_type: event_type.into(),
        created_at: at,
        data,
    })
}

/// A received invoice as its event shows it.
#[must_use]
pub(super) fn received_invoice(received: &ReceivedInvoice) -> wire::InvoiceReceivedData {
    wire::InvoiceReceivedData {
        invoice_id: received.id,
        invoice: wire::EventInvoice {
            amount: received.amount.into(),
            due_date: received.due_date,
            number: Some(received.number.to_string()),
        },
        payer: party(&received.payer),
        supplier: supplier_party(&received.supplier),
    }
}

/// The data of a test event.
fn webhook_test() -> wire::WebhookTestData {
    wire::WebhookTestData {
        message: Some(messages::WEBHOOK_TEST.to_owned()),
    }
}

/// An extension as webhooks and the platform show it.
#[must_use]
pub(super) fn extension(extension: &Extension) -> wire::ExtensionData {
    wire::ExtensionData {
        id: extension.id,
        new_due_date: extension.new_due_date,
        total_amount: extension.total_amount.into(),
    }
}

/// A wire shape as JSON.
///
/// # Panics
///
/// Never: wire shapes hold texts, numbers and lists, which always serialize.
#[must_use]
pub(crate) fn text<T: Serialize>(shape: &T) -> String {
    #[expect(clippy::expect_used, reason = "wire shapes always serialize")]
    serde_json::to_string(shape).expect("a wire shape serializes")
}

#[cfg(test)]
mod tests {
    use preauth_core::operation::Offer;
    use preauth_core::value::CompanyId;
    use uuid::Uuid;

    use super::{Json, Problem, Texts, offer};

    const BODY: &str = r#"{
        "supplier": {
            "cnpj": "12.ABC.345/01DE-35", "email": "fin@fornecedor.com.br", "name": "Nome\u00ad"
        },
        "invoice": {"amount": 1000, "dueDate": "2027-01-20", "number": "NF\u200b-1"},
        "externalReference": "P\ufe0f"
    }"#;

    fn read(texts: Texts) -> Result<Offer, Vec<Problem>> {
        let tree = Json::parse(BODY.as_bytes()).unwrap();
        let payer = CompanyId::new(Uuid::nil());
        offer(&tree, Some("nota\u{202e}.pdf"), payer, texts)
    }

    #[test]
    fn invisible_characters_are_a_problem_of_their_field_except_in_stored_texts() {
        let problems = read(Texts::Sent).unwrap_err();
        let fields: Vec<_> = problems.iter().map(|it| it.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "supplier.name",
                "invoice.number",
                "externalReference",
                "invoiceFile"
            ]
        );
        assert!(problems.iter().all(Problem::is_invisible_character));
        let before = read(Texts::Stored).unwrap();
        assert_eq!(before.invoice.number.unwrap().as_str(), "NF\u{200b}-1");
    }
}
