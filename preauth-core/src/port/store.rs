//! Where operations live: consistent reads for decisions, atomic commits of their outcome.

use std::error::Error as StdError;

use async_trait::async_trait;
use thiserror::Error;

use crate::operation::{Beside, OfferContext, Operation};
use crate::payment_order::{OtherOrder, PaymentOrder};
use crate::value::{
    Cnpj, CompanyId, DueDate, EventId, EventType, Fingerprint, IdempotencyKey, InvoiceNumber,
    OperationId, PaymentOrderId, Timestamp,
};

use super::{Commit, Subscription};

/// The write side of a host.
///
/// Each `load` sees one moment; each `commit` is one transaction. Every constraint that can say
/// [`CommitError::Conflict`] is visible to the `load` before it, so that a caller who goes round
/// again sees what was in the way.
#[async_trait]
pub trait Store: Send + Sync {
    /// Reads everything that the decision of a new operation may look at, and reserves its id.
    ///
    /// `None` when the payer is not a registered company. The idempotency reply is read in the
    /// same snapshot as the operation that holds the invoice, or after it: otherwise a concurrent
    /// retry would get "duplicate" in place of its replay.
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable>;

    /// Reads an operation and what a command on it may look at.
    async fn load_operation(&self, id: OperationId)
    -> Result<Option<LoadedOperation>, Unavailable>;

    /// Reads at most `limit` offers whose time has passed at `now` and whose expiry is not recorded,
    /// those first that have waited longest.
    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable>;

    /// Reads what the creation of a payment order needs, and reserves its id; `None` when the
    /// payer or the supplier is not registered; an invited supplier is not.
    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable>;

    /// Reads a payment order.
    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable>;

    /// Whether the event is recorded, and with it the commit that it belongs to. What a `load`
    /// has shown, a look-up after it knows.
    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable>;

    /// Reads what a key of [`ReplyScope::Platform`](super::ReplyScope) answered before, however long
    /// ago.
    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable>;

    /// Writes all of `commit`, or nothing. The ids of its event and of what it creates are taken
    /// once: a commit that names one that is taken conflicts.
    ///
    /// A delivery for which the commit's intake has room is leased by the commit itself, and handed
    /// over when that is durable, also if the caller has gone away. If its endpoint is paused or
    /// slow, it waits for a claim like any other.
    async fn commit(&self, commit: Commit) -> Result<(), CommitError>;

    /// Writes each of `commits` as [`commit`](Self::commit) does, as many together as the host can;
    /// the answers are in their order, and no commit fails on account of another.
    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>>;
}

/// Names the new operation that is to be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferTarget {
    /// The company of the invoice.
    pub payer: CompanyId,
    /// The supplier's tax id.
    pub supplier: Cnpj,
    /// The invoice's number; without one no operation can be in its way.
    pub invoice_number: Option<InvoiceNumber>,
    /// The caller's key; the reply is sought under the payer's head office.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// Everything that the decision of a new operation may look at, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedOffer {
    /// What the rules look at.
    pub context: OfferContext,
    /// What the idempotency key answered before, however long ago.
    pub reply: Option<Reply>,
    /// The endpoints of the payer's and the supplier's head offices.
    pub subscriptions: Vec<Subscription>,
}

/// A remembered answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What was asked for.
    pub fingerprint: Fingerprint,
    /// The body of the answer, byte for byte.
    pub body: String,
    /// The operation that was created.
    pub operation: OperationId,
    /// Until when it counts; from then on the key is as good as new.
    pub expires_at: Timestamp,
}

/// A remembered answer to a create of the platform's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformReply {
    /// What was asked for.
    pub fingerprint: Fingerprint,
    /// The body of the answer, without what is shown only once.
    pub body: String,
    /// Until when it counts; from then on the key is as good as new.
    pub expires_at: Timestamp,
}

/// An operation and what a command on it may look at, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedOperation {
    /// The operation.
    pub operation: Operation,
    /// Another operation in progress that holds the same invoice in the same group.
    pub holder: Option<Operation>,
    /// Of a reproved one: its latest event that is neither a reproval nor a reopening.
    pub reached: Option<EventType>,
    /// Of one whose boleto is to be issued: the due date of its last concluded extension.
    pub extended_to: Option<DueDate>,
    /// The endpoints of the payer's and the supplier's head offices.
    pub subscriptions: Vec<Subscription>,
}

impl LoadedOperation {
    /// What a command is decided by, beside the operation itself.
    #[must_use]
    pub fn beside(&self) -> Beside {
        Beside {
            holder: self.holder.as_ref().map(|holder| holder.id),
            reached: self.reached,
            extended_to: self.extended_to,
        }
    }
}

/// Names the parties of a new payment order, and what it pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderTarget {
    /// Whose order it is.
    pub payer: CompanyId,
    /// Who is paid.
    pub supplier: Cnpj,
    /// The operation that it belongs to, if any.
    pub operation: Option<OperationId>,
}

/// Everything that a new payment order depends on, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedNewOrder {
    /// The id that is reserved for it.
    pub order: PaymentOrderId,
    /// Whose order it is.
    pub payer: crate::operation::Payer,
    /// Who is paid.
    pub supplier: crate::operation::Party,
    /// The endpoint of the payer's head office.
    pub subscriptions: Vec<Subscription>,
    /// The newest orders of the operation that were neither canceled nor reproved.
    pub others: Vec<OtherOrder>,
    /// The order that a new one takes the place of in its commit, whatever has become of it.
    pub current: Option<PaymentOrderId>,
}

/// A payment order as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedOrder<T> {
    /// The order.
    pub order: T,
    /// Whose order it is.
    pub payer: crate::operation::Payer,
    /// Who is paid.
    pub supplier: crate::operation::Party,
    /// The endpoint of the payer's head office.
    pub subscriptions: Vec<Subscription>,
}

/// A read that could not be done; nothing was changed, and it may be tried again.
#[derive(Error)]
#[error("the store is not available")]
pub struct Unavailable {
    /// What the host knows of the cause.
    #[source]
    pub cause: Box<dyn StdError + Send + Sync>,
}

crate::explained::explained!(Unavailable);

/// Why a commit did not succeed. These are kept apart because callers must treat them so.
#[derive(Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum CommitError {
    /// Something else was committed in between; nothing was written. Load again and decide anew.
    #[error("something else was committed in between")]
    Conflict,
    /// Another commit under the same idempotency key is being written; nothing was written.
    #[error("a commit under the same idempotency key is being written")]
    InProgress,
    /// Nothing was written; the same commit may be tried again.
    #[error("nothing was written")]
    NotDone(#[source] Box<dyn StdError + Send + Sync>),
    /// Nothing was written: too much waits already, or what it touches stayed locked for too long.
    /// Trying again at once only adds to that; the caller is asked to come back later.
    #[error("nothing was written, and trying again at once would not help")]
    Busy(#[source] Box<dyn StdError + Send + Sync>),
    /// All of it or nothing was written, or will be: look its event up to learn which.
    #[error("it is not known whether anything was written")]
    Unknown(#[source] Box<dyn StdError + Send + Sync>),
}

crate::explained::explained!(CommitError);
