//! Creates of the platform API, and test events: POSTs that accept an `Idempotency-Key`.

use preauth_core::service::{Once, PlatformKey};
use preauth_core::value::{FingerprintBuilder, Fingerprints};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::idempotency;
use crate::http::json::Json;
use crate::http::openapi::described::Described;
use crate::http::reply::Reply;
use crate::http::requested::RequestedObject;

use super::PlatformApi;
use super::endpoint::Endpoint;

/// The create of one path.
#[async_trait]
pub(super) trait Create: Send + Sync + 'static {
    /// The parsed body.
    type New: RequestedObject + Send + Sync;

    /// The status of a successful answer.
    const STATUS: StatusCode = StatusCode::CREATED;

    /// Whether the request has a body; without one an empty object is parsed.
    const HAS_BODY: bool = true;

    /// Adds its effect to the API's description; the idempotency key is added afterwards.
    fn document(&self, operation: Described) -> Described;

    /// Adds every part of the request to its fingerprints.
    fn describe(&self, new: &Self::New, parts: &mut FingerprintBuilder);

    /// Creates the record and commits the reply of `key` with it. The answer has
    /// [`STATUS`](Self::STATUS). The stored reply lacks values that are shown only once.
    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: Self::New,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError>;
}

/// Wraps a create with the check of its idempotency key; every create is routed through it.
pub(super) struct Keyed<C>(pub(super) C);

#[async_trait]
impl<C: Create> Endpoint for Keyed<C> {
    fn document(&self, operation: Described) -> Described {
        self.0.document(operation).keyed()
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let Self(creating) = self;
        let key = idempotency::key(req)?;
        let tree = if C::HAS_BODY {
            api.json(req).await?
        } else {
            Json::Object(Vec::new())
        };
        let new = C::New::parse(&tree)?;
        let Some(key) = key else {
            return creating.create(api, req, new, None).await;
        };
        let key = api
            .operations
            .platform_key(key, fingerprints(creating, req, &new));
        let now = api.clock.now();
        let creation = creating.create(api, req, new, Some(&key));
        Ok(match api.operations.once(&key, now, creation).await? {
            Once::Created(reply) => reply,
            Once::Replayed { body } => idempotency::replayed(Reply::json(C::STATUS, body)),
        })
    }
}

/// Fingerprints of a request: the path and the meaning of the body, independent of its spelling.
/// Two requests under one key are the same if their fingerprints match.
fn fingerprints<C: Create>(creating: &C, req: &Request, new: &C::New) -> Fingerprints {
    const LAYOUT_VERSION: u8 = 1;
    let mut parts = FingerprintBuilder::new(LAYOUT_VERSION);
    // Ids are case-insensitive.
    parts.part(Some(&req.uri().path().to_ascii_lowercase()));
    creating.describe(new, &mut parts);
    parts.finish()
}
