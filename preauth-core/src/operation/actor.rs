//! The actor of an event: stored with every event, shown by the platform, never sent in a webhook.

use crate::text_enum;
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
    /// The construction company's staff, in the platform.
    Company,
    /// The supplier, in the platform.
    Supplier,
    /// The platform operator, or the bank.
    Platform,
    /// No person: the expiry of an offer.
    System,
}

text_enum! {
    /// The kind of party that caused an event.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum ActorKind, "kind of actor" {
        /// A program with an API key.
        ApiKey => "API_KEY",
        /// The construction company's staff.
        Company => "COMPANY",
        /// The supplier.
        Supplier => "SUPPLIER",
        /// The platform operator, or the bank.
        Platform => "PLATFORM",
        /// No person: time has passed.
        System => "SYSTEM",
    }
}

impl Actor {
    /// The kind of this party.
    #[must_use]
    pub const fn kind(&self) -> ActorKind {
        match self {
            Self::ApiKey { .. } => ActorKind::ApiKey,
            Self::Company => ActorKind::Company,
            Self::Supplier => ActorKind::Supplier,
            Self::Platform => ActorKind::Platform,
            Self::System => ActorKind::System,
        }
    }
}
