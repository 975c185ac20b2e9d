//! One commit: everything that a decision changes, written atomically.

use std::net::IpAddr;

use chrono::TimeDelta;

use crate::ReceivedInvoice;
use crate::access::{OperatorIdentity, OperatorRole};
use crate::operation::{Actor, Extension, ExtensionStatus, InvoiceFile, Operation};
use crate::payment_order::PaymentOrder;
use crate::text_enum;
use crate::value::{
    Cnpj, CompanyId, CompanyName, ContactName, DeliveryId, Email, EndpointId, EventId, EventType,
    Fingerprint, IdempotencyKey, MailId, OperatorId, OperatorName, PaymentOrderId, Phone,
    RequestId, Timestamp, Version,
};

use super::Intake;

/// Everything that one decision changes. A commit never contains two operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The aggregate's new state.
    pub write: Write,
    /// The one event that reports it.
    pub event: EventRecord,
    /// One per subscribed endpoint; due at once.
    pub deliveries: Vec<NewDelivery>,
    /// Where the deliveries may be handed over at once, without a claim.
    pub intake: Intake,
    /// The supplier that this offer invites.
    pub supplier: Option<NewSupplier>,
    /// The mail that is staged with the commit.
    pub mail: Option<NewMail>,
    /// The answer under the idempotency key from now on.
    pub reply: Option<NewReply>,
    /// The description of the invoice file that came with the offer.
    pub file: Option<InvoiceFile>,
    /// Who acted, if it was an operator of the platform, on behalf of the event's actor.
    pub operator: Option<ActingOperator>,
    /// What a host with an audit log stores there of the operator's request.
    pub audited: Option<Audited>,
}

/// The operator of the platform who caused an event. Not part of its body, which only names the party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActingOperator {
    /// The operator; the holder of the configured token has no id.
    pub id: Option<OperatorId>,
    /// The operator's name.
    pub name: OperatorName,
    /// The request.
    pub request: RequestId,
    /// The address that the request came from.
    pub address: IpAddr,
}

/// A request of an operator as an audit log has it, beside the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    /// The operator's role at that moment.
    pub role: OperatorRole,
    /// What was asked for, as the host calls it.
    pub action: &'static str,
    /// The record that was named; without an id, the commit creates it.
    pub record: String,
}

impl ActingOperator {
    /// Which operator it is, as the rules compare operators.
    #[must_use]
    pub fn identity(&self) -> OperatorIdentity {
        OperatorIdentity::new(self.id)
    }
}

/// The change that a commit writes besides its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A new operation; conflicts when its invoice is held by another one in progress.
    NewOperation(Box<Operation>),
    /// An operation's next version; conflicts unless the stored version is the one before.
    Operation {
        /// The state after the event.
        operation: Box<Operation>,
        /// The extension that the event created, concluded or cancelled.
        extension: Option<ExtensionRecord>,
    },
    /// A new payment order; conflicts when its operation has received another order since the load.
    NewOrder {
        /// The order.
        order: Box<PaymentOrder>,
        /// The order of the same operation that it replaces: the current one as loaded.
        instead_of: Option<PaymentOrderId>,
    },
    /// A payment order's next version; conflicts unless the stored version is the one before.
    Order(Box<PaymentOrder>),
    /// An invoice that was received.
    NewInvoice(Box<ReceivedInvoice>),
    /// Only the event: an endpoint is tested.
    EventOnly {
        /// The head office that owns the endpoint.
        head_office: CompanyId,
    },
}

/// An extension with the status it has after the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionRecord {
    /// The extension.
    pub extension: Extension,
    /// Its status after the commit.
    pub status: ExtensionStatus,
}

/// An event as it is stored; its body never changes afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// Unique; the `id` of the envelope.
    pub id: EventId,
    /// The event's type.
    pub event_type: EventType,
    /// When it happened.
    pub at: Timestamp,
    /// The actor.
    pub actor: Actor,
    /// The whole webhook body.
    pub body: String,
}

/// A delivery of the commit's event to one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Unique.
    pub id: DeliveryId,
    /// The receiving endpoint. A store drops the delivery silently when the endpoint was deleted meanwhile.
    pub endpoint: EndpointId,
}

/// A supplier that an offer invites. Name and contact are stored for the offering head office only.
///
/// Conflicts when that head office has already invited it; a first invitation also conflicts when a company
/// with the tax id exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSupplier {
    /// Its id on the platform.
    pub id: CompanyId,
    /// Whether no head office has invited it before.
    pub is_first: bool,
    /// Its tax id.
    pub cnpj: Cnpj,
    /// The name that the head office gave.
    pub name: CompanyName,
    /// The name of the contact person.
    pub contact_name: ContactName,
    /// The address for its mail.
    pub email: Email,
    /// Telephone, if one was given.
    pub phone: Option<Phone>,
}

/// A mail to be sent after the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMail {
    /// Unique.
    pub id: MailId,
    /// Its subject.
    pub kind: MailKind,
    /// The recipient's address.
    pub recipient: Email,
    /// The content, as the host renders it.
    pub content: String,
    /// Not to be sent before this time. For a store that knows that the recipient got its mails of the day;
    /// the service leaves it empty.
    pub held_until: Option<Timestamp>,
}

text_enum! {
    /// The subject of a mail.
    pub enum MailKind, "kind of mail" {
        /// An offer to a registered supplier.
        Offer => "OFFER",
        /// An offer, and an invitation to register.
        Invitation => "INVITATION",
        /// A company's webhook endpoint was paused automatically.
        EndpointPaused => "ENDPOINT_PAUSED",
        /// A company's webhook endpoint began to fail.
        EndpointFailing => "ENDPOINT_FAILING",
        /// A company's webhook endpoint accepts deliveries again.
        EndpointRecovered => "ENDPOINT_RECOVERED",
    }
}

/// The answer under an idempotency key from this commit on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReply {
    /// The scope in which the key is unique.
    pub scope: ReplyScope,
    /// The key.
    pub key: IdempotencyKey,
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// The body of the answer.
    pub body: String,
    /// How long the reply is kept; it replaces an older reply under the same key.
    pub retention: TimeDelta,
}

/// The scope in which an idempotency key is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplyScope {
    /// The offers of a head office.
    HeadOffice(CompanyId),
    /// Creates by the platform itself, for any company.
    Platform,
}

impl Commit {
    /// Creates a commit with the required fields; the optional ones are set afterwards.
    #[must_use]
    pub fn new(write: Write, event: EventRecord, deliveries: Vec<NewDelivery>) -> Self {
        Self {
            write,
            event,
            deliveries,
            intake: Intake::default(),
            supplier: None,
            mail: None,
            reply: None,
            file: None,
            operator: None,
            audited: None,
        }
    }
}

impl Write {
    /// The version that must be stored for the commit to succeed; `None` for new records.
    #[must_use]
    pub fn expected_version(&self) -> Option<Version> {
        let next = match self {
            Self::NewOperation(_)
            | Self::NewOrder { .. }
            | Self::NewInvoice(_)
            | Self::EventOnly { .. } => return None,
            Self::Operation { operation, .. } => operation.version,
            Self::Order(order) => order.version,
        };
        Version::new(next.get().checked_sub(1)?)
    }

    /// The head office to which the written record belongs.
    #[must_use]
    pub const fn head_office(&self) -> CompanyId {
        match self {
            Self::NewOperation(operation) | Self::Operation { operation, .. } => {
                operation.payer.head_office
            }
            Self::NewOrder { order, .. } | Self::Order(order) => order.payer.head_office,
            Self::NewInvoice(invoice) => invoice.payer.head_office,
            Self::EventOnly { head_office } => *head_office,
        }
    }
}
