//! The write side: consistent reads for decisions, and atomic commits of their outcomes.

use std::error::Error as StdError;

use async_trait::async_trait;
use thiserror::Error;

use crate::access::OperatorIdentity;
use crate::operation::{CommandContext, OfferContext, Operation};
use crate::payment_order::{OtherOrder, PaymentOrder};
use crate::value::{
    Cnpj, CompanyId, DueDate, EventId, EventType, Fingerprint, IdempotencyKey, InvoiceNumber,
    OperationId, PaymentOrderId, Timestamp,
};

use super::{Commit, Subscription};

/// Consistent reads and atomic commits.
///
/// Each `load` reads one snapshot; each `commit` is one transaction. Every constraint that can cause
/// [`CommitError::Conflict`] is visible to a `load`, so that a caller that loads again sees the cause of
/// the conflict.
#[async_trait]
pub trait Store: Send + Sync {
    /// Reads everything that the decision on a new operation needs, and reserves its id.
    ///
    /// `None` when the payer is not a registered company. The idempotency reply is read in the same
    /// snapshot as the operation that holds the invoice, or after it: otherwise a concurrent retry would
    /// receive "duplicate" instead of its replay.
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable>;

    /// Reads an operation and what a command on it needs.
    async fn load_operation(&self, id: OperationId)
    -> Result<Option<LoadedOperation>, Unavailable>;

    /// Reads at most `limit` offers whose time has passed at `now` and whose expiry is not recorded,
    /// longest overdue first.
    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable>;

    /// Reads what the creation of a payment order needs, and reserves its id; `None` when the payer or the
    /// supplier is not registered. An invited supplier does not count as registered.
    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable>;

    /// Reads a payment order.
    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable>;

    /// Whether the event is recorded, and with it the commit that it belongs to. A look-up after a `load`
    /// sees at least what that `load` saw.
    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable>;

    /// Reads the stored reply under a key of [`ReplyScope::Platform`](super::ReplyScope), expired or not.
    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable>;

    /// Writes all of `commit`, or nothing. The ids of its event and of the records that it creates must be
    /// unused: a commit with a used id conflicts.
    ///
    /// A delivery for which the commit's intake has room is leased by the commit itself, and handed over
    /// once the commit is durable, even if the caller has gone away. If its endpoint is paused or slow, it
    /// waits for a claim like any other.
    async fn commit(&self, commit: Commit) -> Result<(), CommitError>;

    /// Writes each of `commits` as [`commit`](Self::commit) does, batched as far as the host can. The
    /// results are in the order of `commits`, and no commit fails because of a failure of another.
    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>>;
}

/// Identifies the new operation that is to be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferTarget {
    /// The company of the invoice.
    pub payer: CompanyId,
    /// The supplier's tax id.
    pub supplier: Cnpj,
    /// The invoice's number; without one no other operation can hold the invoice.
    pub invoice_number: Option<InvoiceNumber>,
    /// The caller's key; the reply is looked up under the payer's head office.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// Everything that the decision on a new operation needs, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedOffer {
    /// The input of the rules.
    pub context: OfferContext,
    /// The stored reply under the idempotency key, expired or not.
    pub reply: Option<Reply>,
    /// The endpoints of the payer's and the supplier's head offices.
    pub subscriptions: Vec<Subscription>,
}

/// A stored idempotency reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// The response body, byte for byte.
    pub body: String,
    /// The operation that was created.
    pub operation: OperationId,
    /// Until when the reply is valid; from then on the key can be used again.
    pub expires_at: Timestamp,
}

/// A stored idempotency reply to a create by the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformReply {
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// The response body, without values that are shown only once.
    pub body: String,
    /// Until when the reply is valid; from then on the key can be used again.
    pub expires_at: Timestamp,
}

/// An operation and what a command on it needs, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedOperation {
    /// The operation.
    pub operation: Operation,
    /// Another operation in progress that holds the same invoice in the same group.
    pub holder: Option<Operation>,
    /// For a reproved operation: its latest event that is neither a reproval nor a reopening.
    pub reached: Option<EventType>,
    /// For an operation whose boleto is to be issued: the latest due date of its concluded extensions, whatever
    /// the order of their ids.
    pub extended_to: Option<DueDate>,
    /// For an operation that is released for payment: the operator who released it last, if one is recorded.
    pub released_by: Option<OperatorIdentity>,
    /// The endpoints of the payer's and the supplier's head offices.
    pub subscriptions: Vec<Subscription>,
}

impl LoadedOperation {
    /// The data besides the operation itself that the decision on a command depends on.
    #[must_use]
    pub fn command_context(&self) -> CommandContext {
        CommandContext {
            holder: self.holder.as_ref().map(|holder| holder.id),
            reached: self.reached,
            extended_to: self.extended_to,
            released_by: self.released_by,
            under_four_eyes: None,
        }
    }
}

/// Identifies the parties of a new payment order, and the operation that it pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderTarget {
    /// The company that pays.
    pub payer: CompanyId,
    /// Who is paid.
    pub supplier: Cnpj,
    /// The operation that it belongs to, if any.
    pub operation: Option<OperationId>,
}

/// Everything that a new payment order depends on, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedNewOrder {
    /// The id that is reserved for the order.
    pub order: PaymentOrderId,
    /// The company that pays.
    pub payer: crate::operation::Payer,
    /// Who is paid.
    pub supplier: crate::operation::Party,
    /// The endpoint of the payer's head office.
    pub subscriptions: Vec<Subscription>,
    /// The newest orders of the operation that were neither canceled nor reproved.
    pub others: Vec<OtherOrder>,
    /// The operation's current order, in any status, which a new one replaces in its commit.
    pub current: Option<PaymentOrderId>,
}

/// A payment order as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedOrder<T> {
    /// The order.
    pub order: T,
    /// The company that pays.
    pub payer: crate::operation::Payer,
    /// Who is paid.
    pub supplier: crate::operation::Party,
    /// The endpoint of the payer's head office.
    pub subscriptions: Vec<Subscription>,
}

/// A read that failed; nothing was changed, and it may be retried.
#[derive(Error)]
#[error("the store is not available")]
pub struct Unavailable {
    /// The cause, as far as the host knows it.
    #[source]
    pub cause: Box<dyn StdError + Send + Sync>,
}

crate::explained::explained!(Unavailable);

/// Why a commit did not succeed. Callers must handle each variant differently.
#[derive(Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum CommitError {
    /// A concurrent commit came first; nothing was written. Load and decide again.
    #[error("something else was committed in between")]
    Conflict,
    /// Another commit under the same idempotency key is being written; nothing was written.
    #[error("a commit under the same idempotency key is being written")]
    InProgress,
    /// Nothing was written; the same commit may be retried.
    #[error("nothing was written")]
    NotDone(#[source] Box<dyn StdError + Send + Sync>),
    /// Nothing was written: the queue is full, or a required lock was held for too long. An immediate retry
    /// would add to the load; the caller should retry later.
    #[error("nothing was written, and trying again at once would not help")]
    Busy(#[source] Box<dyn StdError + Send + Sync>),
    /// It is unknown whether all of it or nothing was, or will be, written: look up its event to find out.
    #[error("it is not known whether anything was written")]
    Unknown(#[source] Box<dyn StdError + Send + Sync>),
}

crate::explained::explained!(CommitError);
