//! The outcome of ensuring that an invoice is on offer.

use preauth_core::value::OperationId;
use preauth_core::wire::PreAuthorization;

use crate::Response;

/// The outcome of [`Client::create_or_get`](crate::Client::create_or_get).
#[derive(Clone, Debug)]
#[must_use]
pub enum Ensured {
    /// The offer was created by this call.
    Created(Response<PreAuthorization>),
    /// The offer was created before under the caller's key, by an earlier call or by an attempt of this one whose answer was
    /// lost; the operation is as it was then.
    Replayed(Response<PreAuthorization>),
    /// Another operation in progress uses the invoice, and nothing was created. It may have been created
    /// in the platform, or under another key. It was read right after the refusal and may have been
    /// closed by then. Two instalments under one number are one invoice to the service: compare amount, due
    /// date and reference before you take it for this offer.
    AlreadyExists(Response<PreAuthorization>),
}

impl Ensured {
    /// The operation that uses the invoice, in each of the three cases.
    #[must_use]
    pub const fn operation(&self) -> &Response<PreAuthorization> {
        match self {
            Self::Created(operation)
            | Self::Replayed(operation)
            | Self::AlreadyExists(operation) => operation,
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> OperationId {
        self.operation().id
    }
}
