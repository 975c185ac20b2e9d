//! API keys, their authentication and their rate limit: one look-up per request; the tokens of named
//! operators.

mod api_key;
mod checked_secret;
mod console_secret;
mod operator_token;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{
    ApiKeyId, CompanyId, CompanyKind, PermissionSet, ScopeSet, Timestamp, UserId,
};

pub use api_key::{
    KeyFragment, MIN_FRAGMENT_CHARACTERS, NewApiKey, NoFragment, PREFIX, hash_of_presented,
};
pub use checked_secret::RandomPart;
pub use console_secret::ConsoleSecret;
pub use operator_token::{NamedToken, NewOperatorToken, OPERATOR_PREFIX};

/// SHA-256 of the clear text of an API key or an operator's token; nothing else of it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

/// The first bytes of a hash, which identify its key or token. Nobody can generate another one with the
/// same bytes without knowing the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashBeginning(pub [u8; 8]);

impl KeyHash {
    /// Its first bytes.
    #[must_use]
    pub fn beginning(&self) -> HashBeginning {
        HashBeginning(self.0.first_chunk().copied().unwrap_or_default())
    }
}

/// The port behind authentication and rate limit.
#[async_trait]
pub trait Access: Send + Sync {
    /// Looks a key up and, if it is neither revoked nor expired at `now`, counts one request in its
    /// window, across all instances on one database.
    ///
    /// A window begins with its first request and lasts `limit.window_seconds`. Counting stops one
    /// above `limit.requests`. `None` when there is no such key.
    async fn authenticate(
        &self,
        key: &KeyHash,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<Option<KeyRecord>, Unavailable>;

    /// Looks a key up without counting a request; its `window` is `None`.
    async fn find(&self, key: &KeyHash) -> Result<Option<KeyRecord>, Unavailable>;

    /// The hashes of at most `limit` keys, valid or not, whose ids come after `after`, in the order of
    /// their ids.
    async fn key_hashes(
        &self,
        after: ApiKeyId,
        limit: u32,
    ) -> Result<Vec<(ApiKeyId, KeyHash)>, Unavailable>;
}

/// The maximum number of requests of one key in one window (contract, "Limits").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateLimit {
    /// Requests per window. Default: 120.
    pub requests: u32,
    /// Length of the window, in seconds. Default: 60.
    pub window_seconds: u32,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self {
            requests: 120,
            window_seconds: 60,
        }
    }
}

/// The data of a key at the time of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key.
    pub key: ApiKeyId,
    /// The permissions of the key.
    pub scopes: ScopeSet,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// When it expires; at this instant it is already expired.
    pub expires_at: Timestamp,
    /// The company that owns the key.
    pub company: CompanyId,
    /// The kind of company.
    pub company_kind: CompanyKind,
    /// The company's head office; the company itself when it is one.
    pub head_office: CompanyId,
    /// Whether the company or its head office is suspended.
    pub company_is_suspended: bool,
    /// The user responsible for the key.
    pub user: UserId,
    /// Whether that user is active and still belongs to the company.
    pub user_is_active: bool,
    /// The permissions of that user.
    pub permissions: PermissionSet,
    /// The window that counted this request; `None` for revoked and expired keys, and when nothing
    /// was counted.
    pub window: Option<Window>,
}

/// A rate window after a request was counted in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Requests counted, this one included; at most one above the limit.
    pub count: u32,
    /// When the window began.
    pub started_at: Timestamp,
}
