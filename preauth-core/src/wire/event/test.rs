//! Test events.

use serde::{Deserialize, Serialize};

/// The data of `webhook.test`. The contract does not show it; the shape is this project's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct WebhookTestData {
    /// A sentence for the readers of the receiver's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
