//! Who did it: kept with every event, shown by the platform, never sent in a webhook.

use crate::value::{ApiKeyId, UserId};

/// The party that caused an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum Actor {
    /// A program with an API key, acting in the name of the key's responsible user.
    ApiKey {
        /// The key that was presented.
        key: ApiKeyId,
        /// The user in whose name the key acts.
        user: UserId,
    },
    /// The construction company's people, in the platform.
    Company,
    /// The supplier, in the platform.
    Supplier,
    /// The platform's own operation, the bank included.
    Platform,
    /// Time: the expiry of an offer.
    System,
}
