//! Named operators: tokens shown once, kept as hashes.

use async_trait::async_trait;
use preauth_core::access::{KeyState, OperatorRole, operator_state};
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{OperatorId, OperatorName, Timestamp};

use crate::access::{HashBeginning, KeyHash};

use super::{DirectoryError, Page};

/// An operator without the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The platform's id.
    pub id: OperatorId,
    /// The name, of one operator for ever.
    pub name: OperatorName,
    /// The role, which decides which requests are allowed.
    pub role: OperatorRole,
    /// When it was created.
    pub created_at: Timestamp,
    /// The name of the operator who created it.
    pub created_by: OperatorName,
    /// The end of the token; at this instant it is already expired. `None` without an end.
    pub valid_until: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// When the token was last used, to the minute, if it was.
    pub last_used_at: Option<Timestamp>,
}

impl Operator {
    /// Whether the token is valid at `now`.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> KeyState {
        operator_state(now, self.valid_until, self.revoked_at)
    }
}

/// Named operators.
#[async_trait]
pub trait Operators: Send + Sync {
    /// Stores a new operator, and with it the `reply` of its idempotency key; a conflict when the name,
    /// or another one that looks the same, was ever given.
    async fn add_operator(
        &self,
        operator: &Operator,
        token: &KeyHash,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError>;

    /// The operator, if there is one.
    async fn operator(&self, id: OperatorId) -> Result<Option<Operator>, Unavailable>;

    /// All operators, newest first, revoked and expired ones included.
    async fn operators(&self, page: PageRequest) -> Result<Page<Operator>, Unavailable>;

    /// The operator whose token's hash begins so, with the hash.
    async fn operator_of_token(
        &self,
        beginning: HashBeginning,
    ) -> Result<Option<(Operator, KeyHash)>, Unavailable>;

    /// The hashes of at most `limit` tokens, valid or not, of operators whose ids come after `after`, in
    /// the order of their ids.
    async fn operator_hashes(
        &self,
        after: OperatorId,
        limit: u32,
    ) -> Result<Vec<(OperatorId, KeyHash)>, Unavailable>;

    /// Records the use of a token; a crash may undo it.
    async fn note_operator_use(&self, id: OperatorId, at: Timestamp) -> Result<(), Unavailable>;

    /// Revokes an operator's token; the first revocation's time stays. Not found when the operator does
    /// not exist.
    async fn revoke_operator(
        &self,
        id: OperatorId,
        at: Timestamp,
    ) -> Result<Operator, DirectoryError>;
}
