//! Everything that is stored, page by page: what an audit looks at.

use async_trait::async_trait;

use crate::operation::Operation;
use crate::payment_order::{OtherOrder, PaymentOrder};
use crate::text_enum;
use crate::value::{
    Cnpj, CompanyId, DeliveryId, EndpointId, EventId, EventType, IdempotencyKey, MailId,
    OperationId, Origin, PaymentOrderId, Status, Timestamp, Version,
};

use super::{ExtensionRecord, MailKind, Trigger, Unavailable};

/// A host's records, for an audit while others write them.
#[async_trait]
pub trait Archive: Send + Sync {
    /// Begins to read everything.
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable>;
}

/// Everything, a page at a time.
///
/// A page is read as of one moment of its own. Others go on writing between two pages; nothing is held
/// meanwhile that would make anybody wait, or keep versions of records that have changed.
#[async_trait]
pub trait Pages: Send {
    /// The records that follow those it gave before, about `limit` of them; none at the end.
    ///
    /// What exists throughout comes exactly once. A record that cannot be read is reported in its place.
    /// [`Record::Holder`]s come sorted by what they hold, and any two that follow each other stand in
    /// one page together, so that some come twice; nothing else depends on the order.
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable>;
}

/// Records as of one moment, each whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The host's own clock at that moment: the one by which leases end.
    pub host_now: Timestamp,
    /// The records.
    pub records: Vec<Read<Record>>,
}

/// What is stored, each with all that belongs to it. A host that keeps no mails has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An operation.
    Operation(Box<StoredOperation>),
    /// A payment order.
    Order(Box<StoredOrder>),
    /// An event of neither.
    Other(OtherEvent),
    /// A remembered reply, expired or not.
    Reply(Box<StoredReply>),
    /// An operation in progress whose invoice has a number, once more.
    Holder(Holder),
    /// An event that stands under another head office than the operation or order it reports,
    /// and is therefore not among its events.
    Stray(EventId),
    /// A record that refers to what does not exist, and what that should be.
    Orphan(Subject, String),
    /// A mail.
    Mail(Box<StoredMail>),
    /// A mail that was sent and counts, once more. They come sorted by mailbox and moment.
    Sent(SentMail),
    /// An offer of which there is no mail.
    OfferWithoutMail(OfferWithoutMail),
    /// A count kept for lists that is not the number of operations there are. A host may stop after
    /// the first of them.
    Miscount(Miscount),
    /// The room that a head office's files are said to have, which is not what they have.
    FileBytes(FileBytes),
}

/// A mail with what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMail {
    /// The mail.
    pub id: MailId,
    /// The head office that it was staged for.
    pub head_office: CompanyId,
    /// What it is about.
    pub kind: MailKind,
    /// The operation that it names, and that operation if it exists.
    pub operation: Option<(OperationId, Option<NotifiedOffer>)>,
    /// Whether its head office has, or had, an endpoint.
    pub has_endpoint: bool,
    /// Where it stands.
    pub status: MailStatus,
    /// Whether its address has had its share of the day.
    pub is_held: bool,
    /// When it was staged.
    pub staged_at: Timestamp,
    /// When it is tried next.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was sent, given up or canceled.
    pub ended_at: Option<Timestamp>,
    /// Attempts since it was staged or last resent.
    pub attempts_made: u32,
    /// Whether the last attempt is known to have failed.
    pub has_error: bool,
    /// Until when somebody works on it, by the host's clock.
    pub leased_until: Option<Timestamp>,
}

/// An operation that a mail is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotifiedOffer {
    /// The head office under which it stands.
    pub head_office: CompanyId,
    /// How it began.
    pub origin: Origin,
    /// When it began.
    pub created_at: Timestamp,
    /// How it stands now.
    pub status: Status,
    /// Until when it can be requested.
    pub expires_at: Option<Timestamp>,
}

text_enum! {
    /// Where a mail stands, as it is stored.
    pub enum MailStatus, "mail status" {
        /// It will be sent.
        Pending => "PENDING",
        /// It was handed over.
        Sent => "SENT",
        /// It was given up.
        Failed => "FAILED",
        /// Its offer ended before it left.
        Canceled => "CANCELED",
    }
}

/// A mail that was sent and counts towards the share of its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMail {
    /// The mail.
    pub id: MailId,
    /// The mailbox that its address leads to.
    pub mailbox: String,
    /// Where it went, in small letters.
    pub address: String,
    /// When it was sent.
    pub at: Timestamp,
}

/// An offer of which there is no mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferWithoutMail {
    /// The operation.
    pub operation: OperationId,
    /// When it was offered.
    pub created_at: Timestamp,
}

/// A count of operations that a host keeps for lists, beside their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miscount {
    /// Whose operations.
    pub payer: CompanyId,
    /// In which status.
    pub status: Status,
    /// The counts that lists return.
    pub counted: i64,
    /// How many there are.
    pub there: u64,
}

/// How many bytes a host counts for the files that a head office's operations name, beside their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBytes {
    /// Whose operations.
    pub head_office: CompanyId,
    /// What is counted.
    pub counted: i64,
    /// What they have.
    pub there: i64,
}

/// A record, or what is wrong with one that cannot be read.
pub type Read<T> = Result<T, Unreadable>;

/// A stored record that no longer is what a host writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Whose it is.
    pub subject: Subject,
    /// What cannot be read.
    pub what: String,
}

/// The record that something is said of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An operation.
    Operation(OperationId),
    /// A payment order.
    Order(PaymentOrderId),
    /// An event.
    Event(EventId),
    /// A delivery.
    Delivery(DeliveryId),
    /// A mail.
    Mail(MailId),
    /// The reply under an idempotency key, which a head office chose.
    Reply(CompanyId, String),
    /// A company, for what is kept about all its operations together.
    Payer(CompanyId),
    /// A record whose own id cannot be read: what kind it is.
    Nameless(&'static str),
}

/// An operation with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOperation {
    /// Its state.
    pub operation: Operation,
    /// The head office under which it stands, for lists and for the duplicate rule.
    pub head_office: CompanyId,
    /// The supplier's tax id under which it stands, for the duplicate rule.
    pub supplier_cnpj: Cnpj,
    /// Whether its supplier is registered, or invited by its head office.
    pub supplier_is_known: bool,
    /// Its extensions, by id.
    pub extensions: Vec<ExtensionRecord>,
    /// Its events, by version.
    pub events: Vec<StoredEvent>,
}

/// A payment order with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOrder {
    /// Its state.
    pub order: PaymentOrder,
    /// The head office under which it stands, for lists.
    pub head_office: CompanyId,
    /// Earlier orders of its operation that were neither canceled nor reproved.
    pub earlier: Vec<OtherOrder>,
    /// Its events, by version.
    pub events: Vec<StoredEvent>,
}

/// An event of neither an operation nor a payment order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherEvent {
    /// Whose it is.
    pub head_office: CompanyId,
    /// The event.
    pub event: StoredEvent,
}

/// An event with its deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The event.
    pub id: EventId,
    /// The version after it of what it reports.
    pub version: Option<Version>,
    /// What happened.
    pub event_type: EventType,
    /// When.
    pub at: Timestamp,
    /// The webhook body, as frozen.
    pub body: String,
    /// Its deliveries that are still kept.
    pub deliveries: Vec<StoredDelivery>,
}

/// A delivery with its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDelivery {
    /// The delivery.
    pub id: DeliveryId,
    /// The head office under which it is listed.
    pub head_office: CompanyId,
    /// Where it goes.
    pub endpoint: StoredEndpoint,
    /// The type of its event, as the delivery has it.
    pub event_type: EventType,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// Attempts since it was made or last resent.
    pub attempts_made: u32,
    /// What asks for the next attempt.
    pub next_trigger: Trigger,
    /// Until when somebody works on it, by the host's clock.
    pub leased_until: Option<Timestamp>,
    /// Its attempts, by number.
    pub attempts: Vec<StoredAttempt>,
}

/// The endpoint of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredEndpoint {
    /// The endpoint.
    pub id: EndpointId,
    /// Whose it is.
    pub head_office: CompanyId,
    /// How it stands.
    pub state: EndpointState,
}

/// How an endpoint stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointState {
    /// Deliveries go there.
    Active,
    /// Deliveries are kept for it.
    Paused,
    /// It was removed; its pending deliveries have failed.
    Removed,
}

text_enum! {
    /// Where a delivery stands, as it is stored. That of a paused endpoint is pending and waits.
    pub enum DeliveryStatus, "delivery status" {
        /// On its way, or waiting for its next attempt.
        Pending => "PENDING",
        /// It arrived.
        Delivered => "DELIVERED",
        /// It was given up.
        Failed => "FAILED",
    }
}

/// An attempt, as far as the delivery's status follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredAttempt {
    /// From 1.
    pub number: i64,
    /// The answer's status, if there was an answer.
    pub http_status: Option<u16>,
    /// Whether it counts as a failure.
    pub has_error: bool,
    /// What asked for it.
    pub trigger: Trigger,
}

/// A remembered reply with the operation that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReply {
    /// Whose key it is.
    pub head_office: CompanyId,
    /// The key.
    pub key: IdempotencyKey,
    /// The body that is repeated.
    pub body: String,
    /// The operation that was created under the key, as it is now.
    pub operation: Operation,
}

/// An operation in progress, and the invoice that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The payer's head office.
    pub head_office: CompanyId,
    /// The supplier's tax id.
    pub supplier: Cnpj,
    /// The invoice's number, in the form in which the host compares it.
    pub number: String,
    /// The operation.
    pub operation: OperationId,
}

impl StoredAttempt {
    /// Whether it confirmed the event.
    #[must_use]
    pub fn confirms(&self) -> bool {
        !self.has_error && self.http_status.is_some_and(|it| (200..300).contains(&it))
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Operation(id) => write!(f, "operation {id}"),
            Self::Order(id) => write!(f, "payment order {id}"),
            Self::Event(id) => write!(f, "event {id}"),
            Self::Delivery(id) => write!(f, "delivery {id}"),
            Self::Mail(id) => write!(f, "mail {id}"),
            Self::Reply(head_office, key) => {
                write!(f, "idempotency key {key} of company {head_office}")
            }
            Self::Payer(company) => write!(f, "operations of company {company}"),
            Self::Nameless(kind) => f.write_str(kind),
        }
    }
}
