//! Sessions of the operators' console.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{OperatorId, Timestamp};

use crate::access::KeyHash;

use super::{DirectoryError, Operator};

/// A session, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsoleSession {
    /// The hash of the secret that the browser holds.
    pub secret: KeyHash,
    /// Whose it is.
    pub holder: SessionHolder,
    /// When it began.
    pub created_at: Timestamp,
    /// Its end; at this instant it is already over.
    pub expires_at: Timestamp,
}

/// Whose session it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionHolder {
    /// The holder of the configured token, with the proof of which token it was.
    Root {
        /// HMAC-SHA256 of the token under the session's secret.
        proof: [u8; 32],
    },
    /// A named operator.
    Named(OperatorId),
}

/// Sessions of the console, shared by all instances on one database.
#[async_trait]
pub trait ConsoleSessions: Send + Sync {
    /// Stores a new session.
    async fn open_session(&self, session: &ConsoleSession) -> Result<(), DirectoryError>;

    /// The session with this secret, expired or not, and its operator unless that is `root`.
    async fn session(
        &self,
        secret: KeyHash,
    ) -> Result<Option<(ConsoleSession, Option<Operator>)>, Unavailable>;

    /// Ends a session, if there is one.
    async fn end_session(&self, secret: KeyHash) -> Result<(), DirectoryError>;

    /// Removes at most `limit` sessions that are over at `now`; returns their number.
    async fn forget_expired_sessions(&self, now: Timestamp, limit: u32)
    -> Result<u64, Unavailable>;
}
