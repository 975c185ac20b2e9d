//! Test events.

use serde::{Deserialize, Serialize};

/// The data of `webhook.test`. The contract does not define it; the shape is this project's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct WebhookTestData {
    /// A message for the receiver's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
