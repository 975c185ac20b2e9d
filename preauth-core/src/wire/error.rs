//! The body of an error answer.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{Open, number};
use crate::ErrorCode;
use crate::value::OperationId;

/// The body of every answer that is not a success.
/// [Contract, "Error body"](https://example.com/preauth/blob/main/docs/reference.md#error-body).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct ErrorBody {
    /// The errors: one item, or one per problem for `VALIDATION_ERROR`.
    pub errors: Vec<ErrorItem>,
    /// Structured details; see [`ErrorDetail`] for how they relate to the errors. Omitted when `None`.
    ///
    /// Read leniently: details of an unexpected shape do not make the errors unreadable.
    #[serde(
        default,
        deserialize_with = "indulgent",
        skip_serializing_if = "Option::is_none"
    )]
    pub details: Option<Vec<ErrorDetail>>,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct ErrorItem {
    /// The code, on which callers branch.
    pub code: Open<ErrorCode>,
    /// A sentence in Portuguese, for people.
    #[serde(default)]
    pub message: String,
}

/// Structured details of an error. Fields that are `None` are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct ErrorDetail {
    /// For `PRE_AUTH_DUPLICATE_INVOICE`, at index 0: the operation that holds the invoice. For
    /// `IDEMPOTENCY_KEY_REUSED` of a create: the one that was created under the key.
    #[serde(
        with = "number::optional",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub anticipation_id: Option<OperationId>,
    /// For `VALIDATION_ERROR`, at the index of the error: the path of the field, such as
    /// `invoice.dueDate`. Other refusals may name a field at index 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl ErrorBody {
    /// A body with one error and no details.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            errors: vec![ErrorItem::new(code, message)],
            details: None,
        }
    }

    /// The code of the first error, which all errors of one answer share.
    #[must_use]
    pub fn code(&self) -> Option<&Open<ErrorCode>> {
        self.errors.first().map(|error| &error.code)
    }
}

impl From<Vec<ErrorItem>> for ErrorBody {
    /// A body without details.
    fn from(errors: Vec<ErrorItem>) -> Self {
        Self {
            errors,
            details: None,
        }
    }
}

impl ErrorItem {
    /// An error of the service.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
        }
    }
}

/// Reads details that are an array. An entry of an unexpected shape becomes an empty one, so that the
/// indexes of the others still match their errors.
fn indulgent<'de, D>(deserializer: D) -> Result<Option<Vec<ErrorDetail>>, D::Error>
where
    D: Deserializer<'de>,
{
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let entries: Option<Vec<Box<RawValue>>> = serde_json::from_str(raw.get()).unwrap_or_default();
    let detail = |entry: Box<RawValue>| serde_json::from_str(entry.get()).unwrap_or_default();
    Ok(entries.map(|entries| entries.into_iter().map(detail).collect()))
}
