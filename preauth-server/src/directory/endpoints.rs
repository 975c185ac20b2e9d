//! Webhook endpoints: at most one per head office.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, EndpointId, EventTypeSet, Timestamp};

use super::DirectoryError;

/// Where a head office hears of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The platform's id.
    pub id: EndpointId,
    /// The head office it belongs to.
    pub company: CompanyId,
    /// Where deliveries go.
    pub url: String,
    /// Which events it hears.
    pub events: EventTypeSet,
    /// Since when it is paused, if it is: its events are kept and delivered on resume.
    pub paused_at: Option<Timestamp>,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When a delivery last arrived, if one did.
    pub last_success_at: Option<Timestamp>,
}

/// A signing secret, encrypted under a master key.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecret(pub Vec<u8>);

impl std::fmt::Debug for SealedSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealedSecret(..)")
    }
}

/// Which secret of which endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretId {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its secrets are numbered from 1 on.
    pub number: u32,
}

/// A signing secret as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSecret {
    /// Which it is.
    pub id: SecretId,
    /// The secret.
    pub sealed: SealedSecret,
}

/// A kept secret, and the same one sealed under another master key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResealedSecret {
    /// What is kept.
    pub kept: KeptSecret,
    /// What is to stand in its place.
    pub sealed: SealedSecret,
}

/// An endpoint, some of whose secrets were given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// Whose endpoint it is.
    pub company: CompanyId,
    /// How many secrets were given up.
    pub secrets: u64,
    /// Whether a secret is left that stays in force. Without one the endpoint is paused.
    pub still_signs: bool,
}

/// The register of endpoints.
#[async_trait]
pub trait Endpoints: Send + Sync {
    /// Registers an endpoint with its first secret; not found unless the company is a head office,
    /// conflict when it has one.
    async fn add_endpoint(
        &self,
        endpoint: &Endpoint,
        secret: &SealedSecret,
    ) -> Result<(), DirectoryError>;

    /// Changes where deliveries go, pending ones included, and which events are heard.
    async fn update_endpoint(
        &self,
        company: CompanyId,
        url: &str,
        events: EventTypeSet,
    ) -> Result<Endpoint, DirectoryError>;

    /// A head office's endpoint, if it has one.
    async fn endpoint(&self, company: CompanyId) -> Result<Option<Endpoint>, Unavailable>;

    /// How many active endpoints are slow: the last attempt took as long as
    /// [`is_slow`](preauth_core::delivery::is_slow) says.
    async fn slow_endpoints(&self) -> Result<u32, Unavailable>;

    /// Signing secrets that are in force at `now`, at most `limit`, after `after` in an order that
    /// does not change: whoever asks on from the last one sees each that is there all the while.
    async fn secrets_in_force(
        &self,
        now: Timestamp,
        after: Option<SecretId>,
        limit: u32,
    ) -> Result<Vec<KeptSecret>, Unavailable>;

    /// Puts secrets in the place of what is kept, all in one transaction, and tells how many: what
    /// was rotated or removed meanwhile is passed over.
    async fn replace_secrets(&self, resealed: Vec<ResealedSecret>) -> Result<u64, Unavailable>;

    /// Ends secrets at `at`, and pauses the endpoints that have none left which stays in force: all in
    /// one transaction. What was rotated or removed meanwhile is passed over. Tells of each endpoint
    /// that lost a secret.
    async fn abandon_secrets(
        &self,
        lost: Vec<KeptSecret>,
        at: Timestamp,
    ) -> Result<Vec<Abandoned>, Unavailable>;

    /// Removes an endpoint. Nothing is sent to it any more, and its pending deliveries have failed; they
    /// are ended in batches, however many they are (see [`Housekeeping`](crate::store::Housekeeping)).
    async fn delete_endpoint(
        &self,
        company: CompanyId,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;

    /// Pauses an endpoint, or resumes it: what was kept becomes due at `at`, in batches. Doing so again changes
    /// nothing. Conflict when one is to be resumed whose secrets were given up: it needs a new one.
    async fn set_endpoint_paused(
        &self,
        company: CompanyId,
        paused: bool,
        at: Timestamp,
    ) -> Result<Endpoint, DirectoryError>;

    /// Makes `secret` the newest; the ones before stay in force until `others_until`, which may be
    /// `at`: then they end at once. A secret is sealed for one endpoint, so that is named, and it is
    /// not found once it was removed.
    async fn rotate_secret(
        &self,
        endpoint: EndpointId,
        secret: &SealedSecret,
        at: Timestamp,
        others_until: Timestamp,
    ) -> Result<(), DirectoryError>;
}
