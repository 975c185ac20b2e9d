//! Where new identifiers come from.

use uuid::Uuid;

use crate::value::Timestamp;

/// Gives out identifiers that no one else has.
///
/// A service uses UUIDv7 of `now` with random bits; a test counts.
pub trait IdSource: Send + Sync {
    /// A new identifier, in the order of time as far as that is possible.
    fn uuid(&self, now: Timestamp) -> Uuid;
}
