//! Webhook endpoints: at most one per head office.

use async_trait::async_trait;
use preauth_core::port::{Subscription, Unavailable};
use preauth_core::value::{CompanyId, EndpointId, EventTypeSet, Timestamp};

use super::DirectoryError;

/// The endpoint that receives a head office's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The platform's id.
    pub id: EndpointId,
    /// The head office it belongs to.
    pub company: CompanyId,
    /// The URL of its receiver.
    pub url: String,
    /// The events that it subscribes to.
    pub events: EventTypeSet,
    /// When it was paused, if it is: its events are kept and delivered on resume.
    pub paused_at: Option<Timestamp>,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When a delivery last succeeded, if one did.
    pub last_success_at: Option<Timestamp>,
    /// When the last of its earlier secrets ends, or ended; `None` when it has only the newest one.
    pub earlier_secrets_until: Option<Timestamp>,
}

impl Endpoint {
    /// The endpoint in the form that the rules of recipients need.
    #[must_use]
    pub const fn subscription(&self) -> Subscription {
        Subscription {
            endpoint: self.id,
            head_office: self.company,
            events: self.events,
        }
    }
}

/// A signing secret, encrypted under a master key.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecret(pub Vec<u8>);

impl std::fmt::Debug for SealedSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealedSecret(..)")
    }
}

/// The identity of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretId {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The number of the secret, from 1 per endpoint.
    pub number: u32,
}

/// A stored signing secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSecret {
    /// Its identity.
    pub id: SecretId,
    /// The secret.
    pub sealed: SealedSecret,
}

/// A stored secret, and the same one encrypted under another master key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResealedSecret {
    /// The stored one.
    pub kept: KeptSecret,
    /// Its replacement.
    pub sealed: SealedSecret,
}

/// The outcome of replacing secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// The number of replaced ones.
    pub replaced: u64,
    /// The number of secrets that another transaction had locked: they are unchanged.
    pub held: u64,
}

/// An endpoint some of whose secrets were abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// The company that owns the endpoint.
    pub company: CompanyId,
    /// The number of abandoned secrets.
    pub secrets: u64,
    /// Whether a secret without an end is left. If not, the endpoint is paused.
    pub still_signs: bool,
}

/// Webhook endpoints.
#[async_trait]
pub trait Endpoints: Send + Sync {
    /// Registers an endpoint with its first secret; not found unless the company is a head office,
    /// conflict when it already has one.
    async fn add_endpoint(
        &self,
        endpoint: &Endpoint,
        secret: &SealedSecret,
    ) -> Result<(), DirectoryError>;

    /// Changes the URL, also for pending deliveries, and the subscribed events.
    async fn update_endpoint(
        &self,
        company: CompanyId,
        url: &str,
        events: EventTypeSet,
    ) -> Result<Endpoint, DirectoryError>;

    /// A head office's endpoint, if it has one.
    async fn endpoint(&self, company: CompanyId) -> Result<Option<Endpoint>, Unavailable>;

    /// The number of active endpoints that are slow: their last attempt was slow by
    /// [`is_slow`](preauth_core::delivery::is_slow).
    async fn slow_endpoints(&self) -> Result<u32, Unavailable>;

    /// Signing secrets in force at `now`, at most `limit`, after `after` in a stable order: a
    /// caller that continues from the last one gets every secret that exists throughout.
    async fn secrets_in_force(
        &self,
        now: Timestamp,
        after: Option<SecretId>,
        limit: u32,
    ) -> Result<Vec<KeptSecret>, Unavailable>;

    /// Replaces stored secrets in one transaction. Secrets that were rotated or removed in the
    /// meantime are skipped, and so are those that another transaction has locked.
    async fn replace_secrets(&self, resealed: Vec<ResealedSecret>)
    -> Result<Replaced, Unavailable>;

    /// Ends secrets at `at`, and pauses the endpoints that have no other secret without an end, all
    /// in one transaction. Secrets that were rotated or removed in the meantime are skipped.
    /// Returns each endpoint that lost a secret.
    async fn abandon_secrets(
        &self,
        lost: Vec<KeptSecret>,
        at: Timestamp,
    ) -> Result<Vec<Abandoned>, Unavailable>;

    /// Removes an endpoint. Nothing more is sent to it, and its pending deliveries fail; they are
    /// settled in batches, however many they are (see
    /// [`Housekeeping`](crate::store::Housekeeping)).
    async fn delete_endpoint(
        &self,
        company: CompanyId,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;

    /// Pauses or resumes an endpoint; idempotent. On resume its kept deliveries become due at `at`,
    /// in batches. Conflict when the endpoint to resume has only abandoned secrets: it needs a new
    /// one.
    async fn set_endpoint_paused(
        &self,
        company: CompanyId,
        paused: bool,
        at: Timestamp,
    ) -> Result<Endpoint, DirectoryError>;

    /// Adds `secret` as the newest; earlier ones stay in force until `others_until`, which may be
    /// `at`: then they end immediately. A secret is encrypted for one endpoint, so the endpoint is
    /// named; not found once it was removed.
    async fn rotate_secret(
        &self,
        endpoint: EndpointId,
        secret: &SealedSecret,
        at: Timestamp,
        others_until: Timestamp,
    ) -> Result<(), DirectoryError>;
}
