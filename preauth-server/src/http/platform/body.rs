//! Reads bodies. An operator whose body took long to arrive is checked again: the token may have been
//! revoked meanwhile.

use std::time::Duration;

use salvo::http::Request;

use crate::http::body;
use crate::http::error::ApiError;
use crate::http::json::Json;

use super::PlatformApi;
use super::calling_operator::CallingOperator;

/// Maximum time between the look-up of a token and what the request does.
const ADMISSION_AGE: Duration = Duration::from_secs(1);

impl PlatformApi {
    /// Reads a JSON body.
    pub(super) async fn json(&self, req: &mut Request) -> Result<Json, ApiError> {
        let tree = body::json(req).await?;
        self.check_again(req).await?;
        Ok(tree)
    }

    /// Reads a JSON body that may be absent.
    pub(super) async fn optional_json(&self, req: &mut Request) -> Result<Json, ApiError> {
        let tree = body::optional_json(req).await?;
        self.check_again(req).await?;
        Ok(tree)
    }

    async fn check_again(&self, req: &Request) -> Result<(), ApiError> {
        if CallingOperator::of(req)?.admitted_at.elapsed() > ADMISSION_AGE {
            self.gate.admit(req).await?;
        }
        Ok(())
    }
}
