//! What making sure of an offer comes to.

use preauth_core::value::OperationId;
use preauth_core::wire::PreAuthorization;

use crate::Response;

/// How [`Client::create_or_get`](crate::Client::create_or_get) found the invoice on offer.
#[derive(Clone, Debug)]
#[must_use]
pub enum Ensured {
    /// The offer was made now.
    Created(Response<PreAuthorization>),
    /// The offer was made before under the same key; the operation is as it was then.
    Replayed(Response<PreAuthorization>),
    /// Another operation in progress holds the invoice, and nothing was done. It may have been created
    /// in the platform, or under another key. It is as it was read right after the refusal: by then it
    /// may have been closed.
    AlreadyExists(Response<PreAuthorization>),
}

impl Ensured {
    /// The operation that holds the invoice, whichever way.
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
