//! Creates of the platform API, and test events: POSTs that may be repeated under an
//! `Idempotency-Key`.

use preauth_core::service::{Once, PlatformKey};
use preauth_core::value::{FingerprintBuilder, Fingerprints};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::json::Json;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::{body, idempotency};

use super::PlatformApi;
use super::resource::Endpoint;

/// What the POST of one path creates.
#[async_trait]
pub(super) trait Create: Send + Sync + 'static {
    /// What the body asks for.
    type New: Send + Sync;

    /// The status of an answer that says that it is done.
    const STATUS: StatusCode = StatusCode::CREATED;

    /// Whether there is a body; without one an empty object is parsed.
    const HAS_BODY: bool = true;

    /// Reads the body.
    fn parse(&self, tree: &Json) -> Result<Self::New, Vec<Problem>>;

    /// Adds every part of what is asked for to its fingerprints.
    fn describe(&self, new: &Self::New, parts: &mut FingerprintBuilder);

    /// Creates the record, and commits the reply of `key` with it. The answer has
    /// [`STATUS`](Self::STATUS); what it shows only once is not in the reply.
    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: Self::New,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError>;
}

/// A create behind its key: there is no way to route one without.
pub(super) struct Keyed<C>(pub(super) C);

#[async_trait]
impl<C: Create> Endpoint for Keyed<C> {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let Self(creating) = self;
        let key = idempotency::key(req)?;
        let tree = if C::HAS_BODY {
            body::json(req).await?
        } else {
            Json::Object(Vec::new())
        };
        let new = creating.parse(&tree)?;
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

/// Says whether two requests under one key ask for the same thing: the path and what the body means,
/// however it is spelled.
fn fingerprints<C: Create>(creating: &C, req: &Request, new: &C::New) -> Fingerprints {
    const LAYOUT_VERSION: u8 = 1;
    let mut parts = FingerprintBuilder::new(LAYOUT_VERSION);
    // Ids have one meaning in either case.
    parts.part(Some(&req.uri().path().to_ascii_lowercase()));
    creating.describe(new, &mut parts);
    parts.finish()
}
