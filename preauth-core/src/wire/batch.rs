//! Many creates in one request, and a create that is only tried.

use serde::{Deserialize, Serialize};

use super::{CreatePreAuthorization, ErrorDetail, ErrorItem, PreAuthorization, text};
use crate::value::{Cnpj, IdempotencyKey, Timestamp};

/// Maximum number of items of a batch.
pub const MAX_BATCH_ITEMS: usize = 100;
/// Maximum size of the body of a batch, in bytes.
pub const MAX_BATCH_BYTES: usize = 1024 * 1024;

/// The body of a batch, as a client sends it: 1 to [`MAX_BATCH_ITEMS`] creates.
///
/// [POST /pre-authorizations/batch](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizationsbatch).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct CreateBatch<'a> {
    /// The creates.
    pub items: Vec<CreateBatchItem<'a>>,
}

/// One create of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct CreateBatchItem<'a> {
    /// Its idempotency key.
    #[serde(with = "text")]
    pub idempotency_key: IdempotencyKey,
    /// The create.
    pub pre_authorization: &'a CreatePreAuthorization,
}

/// The answer to a batch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct BatchResults {
    /// One for each item, in the order of the items.
    pub results: Vec<BatchResult>,
}

/// The answer to one item of a batch: that of a single create.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct BatchResult {
    /// The item's place, from 0.
    pub index: usize,
    /// The status that a single create would have answered: 201 if it was created, now or before.
    pub status: u16,
    /// Whether an earlier request created it under the same key.
    #[serde(default)]
    pub replayed: bool,
    /// The operation, if it was created.
    #[serde(default)]
    pub pre_authorization: Option<PreAuthorization>,
    /// Why it was not created; empty if it was.
    #[serde(default)]
    pub errors: Vec<ErrorItem>,
    /// The details of the errors.
    #[serde(default)]
    pub details: Option<Vec<ErrorDetail>>,
}

/// The answer to a create that was only tried, and would be accepted.
///
/// [POST /pre-authorizations/validate](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizationsvalidate).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct Validation {
    /// Always true: what would be refused is answered by the refusal.
    pub valid: bool,
    /// Until when the supplier could request the advance.
    #[serde(with = "text")]
    pub expires_at: Timestamp,
    /// The supplier as the offer would show it.
    pub supplier: ValidatedSupplier,
    /// The first 20 fields of the request that a create does not read, such as a misspelt `invoice.withheldTax`.
    #[serde(default)]
    pub ignored_fields: Vec<String>,
}

/// The supplier of a create that was only tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct ValidatedSupplier {
    /// Its tax id.
    #[serde(with = "text")]
    pub cnpj: Cnpj,
    /// Its name.
    pub name: String,
    /// Whether the caller's head office knows it, so that `name` and `contactName` are not needed.
    pub registered: bool,
}

impl<'a> CreateBatch<'a> {
    /// A batch of these creates.
    #[must_use]
    pub const fn new(items: Vec<CreateBatchItem<'a>>) -> Self {
        Self { items }
    }
}

impl<'a> CreateBatchItem<'a> {
    /// A create under its key.
    #[must_use]
    pub const fn new(
        idempotency_key: IdempotencyKey,
        pre_authorization: &'a CreatePreAuthorization,
    ) -> Self {
        Self {
            idempotency_key,
            pre_authorization,
        }
    }
}

impl Validation {
    /// An accepted create.
    #[must_use]
    pub const fn new(expires_at: Timestamp, supplier: ValidatedSupplier) -> Self {
        Self {
            valid: true,
            expires_at,
            supplier,
            ignored_fields: Vec::new(),
        }
    }

    /// The same, of a request with fields that a create does not read.
    #[must_use]
    pub fn ignoring(self, ignored_fields: Vec<String>) -> Self {
        Self {
            ignored_fields,
            ..self
        }
    }
}

impl ValidatedSupplier {
    /// A supplier.
    #[must_use]
    pub const fn new(cnpj: Cnpj, name: String, registered: bool) -> Self {
        Self {
            cnpj,
            name,
            registered,
        }
    }
}
