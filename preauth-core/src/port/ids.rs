//! The source of new identifiers.

use uuid::Uuid;

use crate::value::Timestamp;

/// Generates unique identifiers.
///
/// A service uses UUIDv7 from `now` with random bits; a test uses a counter.
pub trait IdSource: Send + Sync {
    /// Returns a new identifier; identifiers ascend with time as far as possible.
    fn uuid(&self, now: Timestamp) -> Uuid;
}
