//! An operation as the platform shows it, and what requests contain about one.

use preauth_core::operation::{
    Action, Actor, ActorKind, Closing, InvoiceFile, Operation, ReprovedBy, State,
};
use preauth_core::port::{ActingOperator, HistoryEntry, Recorded};
use preauth_core::text_enum;
use preauth_core::value::{
    ApiKeyId, Cnpj, CompanyId, DueDate, EventId, EventType, ExternalReference, InvoiceNumber,
    Money, OperationId, OperatorId, OperatorName, Origin, Reason, Stage, Status, Timestamp, UserId,
    Version,
};
use preauth_core::wire::{self, Open};

use crate::http::convert;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer, request, request_by_hand};
use crate::http::openapi::shared;
use crate::http::platform::extensions::ExtensionShape;
use crate::http::platform::party::PartyShape;

text_enum! {
    /// `by` of a reproval.
    pub(crate) enum Reprover, "reprover" {
        /// The construction company.
        Company => "COMPANY",
        /// The platform's own operation.
        Platform => "PLATFORM",
    }
}

impl From<Reprover> for ReprovedBy {
    fn from(reprover: Reprover) -> Self {
        match reprover {
            Reprover::Company => Self::Company,
            Reprover::Platform => Self::Platform,
        }
    }
}

answer! {
    /// An operation as the platform shows it.
    #[derive(Debug)]
    pub(crate) struct OperationShape = "Operation" {
        /// The operation's id.
        id: OperationId,
        /// Changes so far.
        version: Version => |it| it.at_least(1),
        /// Status.
        status: Open<Status>,
        /// Born from an offer, or begun by the supplier.
        origin: Open<Origin>,
        /// The ERP's own reference for the operation; echoed unchanged.
        external_reference: Option<Text<ExternalReference>> = "PEDIDO-1",
        payer: PartyShape,
        supplier: PartyShape,
        invoice: wire::Invoice,
        /// Net amount to the supplier, once released.
        net_amount: Option<Money>,
        /// Why it was closed.
        reason: Option<String>,
        /// At which stage it was closed.
        stage: Option<Open<Stage>>,
        /// While the boleto is out: when it falls due.
        boleto_due_date: Option<DueDate>,
        /// While the boleto is out: its open extension.
        extension: Option<wire::ExtensionData>,
        /// Until when the supplier may request it.
        expires_at: Option<Timestamp> = "2026-11-21T12:00:00.000Z",
        /// When it began.
        created_at: Timestamp,
    }
}

answer! {
    /// An operation with everything about it.
    #[derive(Debug)]
    pub(crate) struct OperationDetails = "OperationDetails" {
        ..operation: OperationShape,
        /// The newest 100, the open one included.
        extensions: Vec<ExtensionShape>,
        invoice_file: Option<FileShape>,
        /// What operators can do with it now, on behalf of whoever may do it. The request may still be refused
        /// for what it asks for.
        possible_actions: Vec<Open<Action>>,
        /// Its events, oldest first.
        history: Vec<HistoryShape>,
        /// How many more events it has that this server cannot read; the log names them.
        #[serde(skip_serializing_if = "Option::is_none")]
        unreadable_events: Option<u64> = 1 => Schema::omitted_if_none,
    }
}

answer! {
    /// The file that came with the offer; null when there is none.
    #[derive(Debug)]
    pub(crate) struct FileShape {
        /// As it was sent; no path.
        name: String = "nota.pdf",
        /// As it was declared.
        media_type: String = "application/pdf"
            => |it| it.words(["application/pdf", "application/xml", "text/xml"]),
        /// In bytes.
        size: u64 = 3,
        /// Of the content, in hexadecimal.
        sha256: String = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }
}

answer! {
    /// An event.
    #[derive(Debug)]
    pub(crate) struct HistoryShape {
        /// The event's id.
        id: EventId,
        /// The event's type.
        r#type: Open<EventType>,
        /// When it happened.
        at: Timestamp,
        /// The operation's version after it.
        version: Version,
        actor: ActorShape,
        #[serde(skip_serializing_if = "Option::is_none")]
        operator: Option<ActingOperatorShape>
            => |it| it.shown_as(&ActingOperatorShape::object()).omitted_if_none(),
    }
}

answer! {
    /// Who acted on the actor's behalf, if it was an operator.
    #[derive(Debug)]
    pub(crate) struct ActingOperatorShape {
        /// The operator's id; null for `root`.
        id: Option<OperatorId>,
        /// The operator's name.
        name: Text<OperatorName>,
        /// The id of the request, which is the `id` of its line in the log.
        request_id: String = "018f2f3a-0000-7000-8000-000000000001",
        /// Where the request came from.
        address: String = "10.0.0.7",
    }
}

answer! {
    /// Who caused it.
    #[derive(Debug)]
    pub(crate) struct ActorShape {
        /// The kind of actor.
        kind: Open<ActorKind> = "API_KEY",
        #[serde(skip_serializing_if = "Option::is_none")]
        api_key_id: Option<ApiKeyId> = "018f2f3a-0000-7000-8000-000000000001"
            => |it| it.omitted_if_none().described("Which key, for API_KEY."),
        #[serde(skip_serializing_if = "Option::is_none")]
        user_id: Option<UserId> = "018f2f3a-0000-7000-8000-000000000001"
            => |it| it.omitted_if_none().described("In whose name, for API_KEY."),
    }
}

request_by_hand! {
    /// An advance without an offer.
    #[derive(Debug)]
    pub(crate) struct NewDirectAdvance = "DirectAdvance" {
        /// A construction company.
        payer_company_id: CompanyId,
        /// A registered supplier.
        supplier_cnpj: Cnpj,
        invoice: NewInvoice,
        /// The ERP's own reference for the operation; echoed unchanged.
        external_reference: Option<ExternalReference>,
    }
}

request_by_hand! {
    /// The invoice.
    #[derive(Debug)]
    pub(crate) struct NewInvoice {
        /// Gross amount in reais.
        amount: Money = 12_500.5 => |it| it.between(500, 10_000_000),
        /// When the company pays the invoice, YYYY-MM-DD.
        due_date: DueDate,
        /// Number of the invoice.
        number: Option<InvoiceNumber>,
        /// The withheld tax; at most amount less 500, and 0 when absent.
        withheld_tax_amount: Option<Money> = 0.0 => |it| it.between(0, shared::MAX_WITHHELD_TAX),
    }
}

request! {
    /// The calculated net amount.
    #[derive(Debug)]
    pub(crate) struct Release = "Release" {
        /// The amount that the supplier receives; at most amount less withheld tax.
        net_amount: Money = 12_100.0,
    }
}

request! {
    /// Who refuses, and why.
    #[derive(Debug)]
    pub(crate) struct Reproval = "Reproval" {
        /// Who refuses.
        by: Open<Reprover>,
        /// Why; a default text otherwise.
        reason: Option<Reason>,
    }
}

impl From<&Operation> for OperationShape {
    fn from(operation: &Operation) -> Self {
        let resource = convert::pre_authorization(operation);
        let closing = operation.closing();
        let stage = closing.and_then(Closing::stage);
        let (boleto_due_date, extension) = match &operation.state {
            State::ToReceive {
                boleto_due_date,
                extension,
            } => (
                Some(*boleto_due_date),
                extension.as_ref().map(convert::extension),
            ),
            State::InPreAuth
            | State::InVerification
            | State::ToApprove
            | State::InAnalysis
            | State::ToPay
            | State::ToBill
            | State::Concluded
            | State::Reproved(_) => (None, None),
        };
        Self {
            id: operation.id,
            version: operation.version,
            status: operation.status().into(),
            origin: operation.origin.into(),
            external_reference: operation.external_reference.as_ref().map(Into::into),
            payer: (&operation.payer).into(),
            supplier: (&operation.supplier).into(),
            invoice: resource.invoice,
            net_amount: operation.net_amount,
            reason: closing.map(|closing| closing.reason().into()),
            stage: stage.map(Into::into),
            boleto_due_date,
            extension,
            expires_at: operation.expires_at,
            created_at: operation.created_at,
        }
    }
}

impl From<&InvoiceFile> for FileShape {
    fn from(file: &InvoiceFile) -> Self {
        Self {
            name: file.name.clone(),
            media_type: file.media_type.clone(),
            size: file.size,
            sha256: hex::encode(file.sha256),
        }
    }
}

impl From<&HistoryEntry> for HistoryShape {
    fn from(entry: &HistoryEntry) -> Self {
        Self {
            id: entry.id,
            r#type: match &entry.event_type {
                Recorded::Known(event_type) => (*event_type).into(),
                Recorded::Unknown(text) => text.as_str().into(),
            },
            at: entry.at,
            version: entry.version,
            actor: match &entry.actor {
                Recorded::Known(actor) => (*actor).into(),
                Recorded::Unknown(kind) => ActorShape {
                    kind: kind.as_str().into(),
                    api_key_id: None,
                    user_id: None,
                },
            },
            operator: entry.operator.as_ref().map(Into::into),
        }
    }
}

impl From<&ActingOperator> for ActingOperatorShape {
    fn from(operator: &ActingOperator) -> Self {
        Self {
            id: operator.id,
            name: (&operator.name).into(),
            request_id: operator.request.to_string(),
            address: operator.address.to_string(),
        }
    }
}

impl From<Actor> for ActorShape {
    fn from(actor: Actor) -> Self {
        let (key, user) = match actor {
            Actor::ApiKey { key, user } => (Some(key), Some(user)),
            Actor::Company | Actor::Supplier | Actor::Platform | Actor::System => (None, None),
        };
        Self {
            kind: actor.kind().into(),
            api_key_id: key,
            user_id: user,
        }
    }
}
