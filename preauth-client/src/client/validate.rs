//! Trying an offer.

use preauth_core::wire::{Validation, path};

use super::Client;
use crate::caller::Task;
use crate::{Call, Error, ErrorKind, NewPreAuthorization, Response};

impl Client {
    /// Asks whether an offer would be accepted, and makes none. Its file and its idempotency key are not looked at.
    /// [`POST /api/integration/v1/pre-authorizations/validate`](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizationsvalidate).
    ///
    /// A refusal is the error that [`create`](Self::create) would return now; a moment later it may be
    /// another one.
    pub async fn validate(
        &self,
        offer: &NewPreAuthorization,
    ) -> Result<Response<Validation>, Error> {
        let json = serde_json::to_vec(&offer.body)
            .map_err(|cause| Error::new(ErrorKind::Config).caused_by(cause))?;
        let task = Task::post(Call::Validate, self.url(path::VALIDATE), json.into());
        self.caller().call(task).await
    }
}
