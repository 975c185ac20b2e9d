//! POST /master-keys/reencrypt: encrypts every signing secret again under the active key, while
//! deliveries continue.

use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use serde::Serialize;

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::reply::Reply;
use crate::secret::reencrypt;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Reencrypt;

#[async_trait]
impl Endpoint for Reencrypt {
    async fn answer(&self, api: &PlatformApi, _req: &mut Request) -> Result<Reply, ApiError> {
        let done = reencrypt(&api.vault, &*api.directory, api.clock.now()).await?;
        tracing::info!(
            key = %api.vault.active(),
            secrets = done.secrets,
            unopened = done.unopened,
            "signing secrets were sealed anew"
        );
        let shape = ReencryptedShape {
            reencrypted: done.secrets,
            unopened: done.unopened,
        };
        Ok(Reply::json(StatusCode::OK, convert::text(&shape)))
    }
}

#[derive(Debug, Serialize)]
struct ReencryptedShape {
    reencrypted: u64,
    unopened: u64,
}
