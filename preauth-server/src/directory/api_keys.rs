//! API keys: shown once, kept as a hash.

use async_trait::async_trait;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{ApiKeyId, CompanyId, KeyName, ScopeSet, Timestamp, UserId};

use crate::access::KeyFragment;
use crate::access::KeyHash;

use super::{DirectoryError, Page};

/// An API key without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The platform's id.
    pub id: ApiKeyId,
    /// The company that owns the key.
    pub company: CompanyId,
    /// The company's name for it.
    pub name: KeyName,
    /// The user responsible for it.
    pub responsible_user: UserId,
    /// Its permissions.
    pub scopes: ScopeSet,
    /// The first characters of the clear text, to recognise the key.
    pub prefix: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; at this instant it is already expired.
    pub expires_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, if it was.
    pub last_used_at: Option<Timestamp>,
}

/// API keys.
#[async_trait]
pub trait ApiKeys: Send + Sync {
    /// Stores a new key, and with it the `reply` of its idempotency key; not found when the company
    /// or the user does not exist.
    async fn add_api_key(
        &self,
        key: &ApiKey,
        hash: &KeyHash,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError>;

    /// The key, if there is one.
    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, Unavailable>;

    /// A company's keys, newest first, revoked and expired ones included.
    async fn api_keys(
        &self,
        company: CompanyId,
        page: PageRequest,
    ) -> Result<Page<ApiKey>, Unavailable>;

    /// The keys of all companies that match a leaked text, revoked and expired ones included: by
    /// prefix, then newest first, at most `limit`. A whole key has one match, or none.
    async fn find_api_keys(
        &self,
        fragment: &KeyFragment,
        limit: u32,
    ) -> Result<Vec<ApiKey>, Unavailable>;

    /// Revokes a key; idempotent. Not found when the key does not exist.
    async fn revoke_api_key(&self, id: ApiKeyId, at: Timestamp) -> Result<(), DirectoryError>;
}
