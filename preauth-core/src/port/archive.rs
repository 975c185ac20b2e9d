//! Reads everything that is stored, page by page, for audits.

use async_trait::async_trait;

use crate::operation::Operation;
use crate::payment_order::{OtherOrder, PaymentOrder};
use crate::text_enum;
use crate::value::{
    Cnpj, CompanyId, DeliveryId, EndpointId, EventId, EventType, IdempotencyKey, MailId,
    OperationId, Origin, PaymentOrderId, Status, Timestamp, Version,
};

use super::{
    ExtensionRecord, ListEnd, ListedEvent, MailKind, MissingNumbers, SealMark, Trigger,
    Unavailable, UnlistedEvent,
};

/// A host's records, for an audit during concurrent writes.
#[async_trait]
pub trait Archive: Send + Sync {
    /// Starts to read everything.
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable>;
}

/// All records, a page at a time.
///
/// Each page is a snapshot of its own. Writes continue between two pages; between pages the host holds no
/// lock that blocks them, and no snapshot that retains old versions of records.
#[async_trait]
pub trait Pages: Send {
    /// Reads the next page, of about `limit` records; empty at the end.
    ///
    /// A record that exists throughout is returned exactly once. A record that cannot be read is reported
    /// in its place. [`Record::Holder`]s are sorted by the invoice that they hold; any two adjacent ones
    /// are together in one page, so that some are returned twice. [`Record::Listed`]s are sorted by head
    /// office and number, each list with its [`Record::ListEnd`], which is of the same page as the last event or of
    /// a later one. Nothing else depends on the order.
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable>;
}

/// A snapshot of records, each of them complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The host's own clock at that moment; leases end by this clock.
    pub host_now: Timestamp,
    /// The records.
    pub records: Vec<Read<Record>>,
}

/// A stored record with all that belongs to it. A host that stores no mails, or has no audit log, returns
/// none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An operation.
    Operation(Box<StoredOperation>),
    /// A payment order.
    Order(Box<StoredOrder>),
    /// An event that belongs to neither an operation nor a payment order.
    Other(OtherEvent),
    /// A stored idempotency reply, expired or not.
    Reply(Box<StoredReply>),
    /// The invoice of an operation in progress, if it has a number; the operation is also returned on its
    /// own.
    Holder(Holder),
    /// An event stored under another head office than the operation or order that it reports, and therefore
    /// not listed among its events.
    MisplacedEvent(EventId),
    /// A record with a reference to a missing record, and the kind of that record.
    Orphan(Subject, String),
    /// A mail.
    Mail(Box<StoredMail>),
    /// A sent mail that counts towards the daily maximum; the mail is also returned on its own. Sorted by
    /// mailbox and time.
    Sent(SentMail),
    /// An offer without a mail.
    OfferWithoutMail(OfferWithoutMail),
    /// A count kept for lists that differs from the number of operations. A host may return only the first
    /// one.
    Miscount(Miscount),
    /// A byte count of a head office's files that differs from their actual size.
    FileBytes(FileBytes),
    /// A seal of the audit log. Sorted by number.
    Seal(StoredSeal),
    /// The oldest row of the audit log without a seal.
    Unsealed(UnsealedRow),
    /// An event in the list of a head office.
    Listed(ListedEvent),
    /// The end of a head office's list: what must be in it as of an earlier page was returned.
    ListEnd(ListEnd),
    /// An event that must be in a list, and is not. A host may return only those that it finds by its own way of
    /// assigning numbers.
    Unlisted(UnlistedEvent),
    /// Numbers of events that are in no list. A host may know none.
    MissingNumbers(MissingNumbers),
}

/// A mail with its subject.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact that any other may come with"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMail {
    /// The mail.
    pub id: MailId,
    /// The head office for which it was staged.
    pub head_office: CompanyId,
    /// The kind of mail.
    pub kind: MailKind,
    /// The id of the operation that it names, and the operation if it exists.
    pub operation: Option<(OperationId, Option<NotifiedOffer>)>,
    /// Whether its head office has, or had, an endpoint.
    pub has_endpoint: bool,
    /// Its status.
    pub status: MailStatus,
    /// Whether it is held because its address has reached the daily maximum.
    pub is_held: bool,
    /// Whether it was canceled because its reader wants no mails.
    pub is_suppressed: bool,
    /// When it was staged.
    pub staged_at: Timestamp,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was sent, canceled or failed for good.
    pub ended_at: Option<Timestamp>,
    /// Attempts since it was staged or last resent.
    pub attempts_made: u32,
    /// Whether the last attempt is known to have failed.
    pub has_error: bool,
    /// The end of its lease, by the host's clock.
    pub leased_until: Option<Timestamp>,
}

/// The operation of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotifiedOffer {
    /// The head office under which it is stored.
    pub head_office: CompanyId,
    /// Its origin.
    pub origin: Origin,
    /// When it was created.
    pub created_at: Timestamp,
    /// Its current status.
    pub status: Status,
    /// Until when the supplier may request the advance.
    pub expires_at: Option<Timestamp>,
}

text_enum! {
    /// The stored status of a mail.
    pub enum MailStatus, "mail status" {
        /// It waits to be sent.
        Pending => "PENDING",
        /// It was handed to the mail server.
        Sent => "SENT",
        /// It was given up.
        Failed => "FAILED",
        /// Its offer was closed before the mail was sent.
        Canceled => "CANCELED",
    }
}

/// A sent mail that counts towards the daily maximum of its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMail {
    /// The mail.
    pub id: MailId,
    /// The mailbox to which its address leads.
    pub mailbox: String,
    /// The recipient's address, in lower case.
    pub address: String,
    /// When it was sent.
    pub at: Timestamp,
}

/// An offer without a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferWithoutMail {
    /// The operation.
    pub operation: OperationId,
    /// When it was offered.
    pub created_at: Timestamp,
    /// When the supplier's personal data were last erased, mails included.
    pub erased_at: Option<Timestamp>,
}

/// A count of operations that a host keeps for lists, and their actual number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miscount {
    /// The company whose operations are counted.
    pub payer: CompanyId,
    /// The status that is counted.
    pub status: Status,
    /// The stored count, as lists return it.
    pub counted: i64,
    /// The actual number.
    pub there: u64,
}

/// The stored byte count of the files that a head office's operations name, and their actual sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBytes {
    /// The company whose operations are counted.
    pub head_office: CompanyId,
    /// The stored count.
    pub counted: i64,
    /// The actual sum.
    pub there: i64,
}

/// A seal over rows of the audit log, compared with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredSeal {
    /// Its number and hash.
    pub mark: SealMark,
    /// Whether its hash is that of its rows and of the seal before it.
    pub is_whole: bool,
}

/// A row of the audit log without a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsealedRow {
    /// Its number.
    pub id: i64,
    /// When its request was admitted or refused.
    pub at: Timestamp,
}

/// A record, or the reason why it cannot be read.
pub type Read<T> = Result<T, Unreadable>;

/// A stored record in a form that no host writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The record it belongs to.
    pub subject: Subject,
    /// The part that cannot be read.
    pub what: String,
}

/// The record that a finding is about.
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
    /// The reply under an idempotency key of a head office.
    Reply(CompanyId, String),
    /// A company, for data about all its operations together.
    Payer(CompanyId),
    /// A row of the audit log.
    AuditRow(i64),
    /// A seal of the audit log.
    Seal(i64),
    /// A number in the list of events of a head office.
    ListedNumber(CompanyId, i64),
    /// Numbers of events, from the first to the last.
    EventNumbers(i64, i64),
    /// The kind of a record whose id cannot be read.
    Nameless(&'static str),
}

/// An operation with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOperation {
    /// Its state.
    pub operation: Operation,
    /// The head office under which it is stored, for lists and for the duplicate rule.
    pub head_office: CompanyId,
    /// The supplier's tax id under which it is stored, for the duplicate rule.
    pub supplier_cnpj: Cnpj,
    /// Whether its supplier is registered, or was invited by its head office.
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
    /// The head office under which it is stored, for lists.
    pub head_office: CompanyId,
    /// Earlier orders of its operation that were neither canceled nor reproved.
    pub earlier: Vec<OtherOrder>,
    /// Its events, by version.
    pub events: Vec<StoredEvent>,
}

/// An event that belongs to neither an operation nor a payment order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherEvent {
    /// The head office it belongs to.
    pub head_office: CompanyId,
    /// The event.
    pub event: StoredEvent,
}

/// An event with its deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The event.
    pub id: EventId,
    /// The version, after the event, of the record that it reports.
    pub version: Option<Version>,
    /// The event's type.
    pub event_type: EventType,
    /// When.
    pub at: Timestamp,
    /// The webhook body, as stored at the commit.
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
    /// The endpoint that receives it.
    pub endpoint: StoredEndpoint,
    /// The type of its event, as stored with the delivery.
    pub event_type: EventType,
    /// Its status.
    pub status: DeliveryStatus,
    /// Attempts since it was created or last resent.
    pub attempts_made: u32,
    /// The trigger of the next attempt.
    pub next_trigger: Trigger,
    /// The end of its lease, by the host's clock.
    pub leased_until: Option<Timestamp>,
    /// Its attempts, by number.
    pub attempts: Vec<StoredAttempt>,
}

/// The endpoint of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredEndpoint {
    /// The endpoint.
    pub id: EndpointId,
    /// The head office it belongs to.
    pub head_office: CompanyId,
    /// Its state.
    pub state: EndpointState,
}

/// The state of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointState {
    /// It receives deliveries.
    Active,
    /// Its deliveries are kept and wait.
    Paused,
    /// It was removed; its pending deliveries have failed.
    Removed,
}

text_enum! {
    /// The stored status of a delivery. A delivery to a paused endpoint is pending and waits.
    pub enum DeliveryStatus, "delivery status" {
        /// Under way, or waiting for its next attempt.
        Pending => "PENDING",
        /// It arrived.
        Delivered => "DELIVERED",
        /// It was given up.
        Failed => "FAILED",
    }
}

/// An attempt, as far as it determines the delivery's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredAttempt {
    /// From 1.
    pub number: i64,
    /// The response status, if there was a response.
    pub http_status: Option<u16>,
    /// Whether it counts as a failure.
    pub has_error: bool,
    /// Its trigger.
    pub trigger: Trigger,
}

/// A stored idempotency reply with the operation that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReply {
    /// The head office that owns the key.
    pub head_office: CompanyId,
    /// The key.
    pub key: IdempotencyKey,
    /// The body that a repeated request receives.
    pub body: String,
    /// The operation that was created under the key, in its current state.
    pub operation: Operation,
}

/// The invoice that an operation in progress holds.
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
    /// Whether the receiver confirmed the event.
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
            Self::AuditRow(id) => write!(f, "row {id} of the audit log"),
            Self::Seal(number) => write!(f, "seal {number} of the audit log"),
            Self::ListedNumber(head_office, number) => {
                write!(
                    f,
                    "number {number} in the list of events of company {head_office}"
                )
            }
            Self::EventNumbers(first, last) if first == last => {
                write!(f, "number {first} of the lists of events")
            }
            Self::EventNumbers(first, last) => {
                write!(f, "numbers {first} to {last} of the lists of events")
            }
            Self::Nameless(kind) => f.write_str(kind),
        }
    }
}
