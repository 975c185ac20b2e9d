//! Offering an advance.

use preauth_core::value::{IdempotencyKey, OperationId};
use preauth_core::wire::PreAuthorization;

use super::Client;
use crate::caller::{Payload, Task};
use crate::file::Form;
use crate::idempotency::{draw_boundary, draw_key};
use crate::{Ensured, Error, ErrorKind, NewPreAuthorization, Response};

impl Client {
    /// Offers an advance to a supplier.
    /// [Contract, "POST /api/integration/v1/pre-authorizations"](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizations).
    ///
    /// All attempts of a call carry one idempotency key, the caller's or a random one, so the offer is
    /// made at most once. After a [retryable](Error::is_retryable) failure, send it again with
    /// [the same key](Error::idempotency_key). A key that was used before returns the operation as it
    /// was created then: [`Response::is_replayed`].
    pub async fn create(
        &self,
        offer: &NewPreAuthorization,
    ) -> Result<Response<PreAuthorization>, Error> {
        let key = match &offer.idempotency_key {
            Some(key) => key.clone(),
            None => draw_key()?,
        };
        let task = self.create_task(offer, key).await?;
        self.caller().call(task).await
    }

    /// Ensures that the invoice is on offer: an operation in progress that already uses the invoice is a
    /// value here, not an error, even if another program created it.
    ///
    /// A second request reads that operation, so the API key also needs the scope `preauth:read`. If it
    /// cannot be read, the error of the second request is returned, and its
    /// [`existing_operation_id`](Error::existing_operation_id) is the id of the operation.
    ///
    /// ```no_run
    /// use preauth_client::{Client, Ensured, NewPreAuthorization};
    ///
    /// # async fn example(client: Client, offer: NewPreAuthorization) -> Result<(), preauth_client::Error> {
    /// match client.create_or_get(&offer).await? {
    ///     Ensured::Created(operation) => println!("offered as {}", operation.id),
    ///     Ensured::Replayed(operation) => println!("offered before, as {}", operation.id),
    ///     Ensured::AlreadyExists(operation) => println!("on offer: {}", operation.status),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create_or_get(&self, offer: &NewPreAuthorization) -> Result<Ensured, Error> {
        match self.create(offer).await {
            // Under a key that was drawn for this call nobody else created anything.
            Ok(response) if response.is_replayed() && offer.idempotency_key.is_some() => {
                Ok(Ensured::Replayed(response))
            }
            Ok(response) => Ok(Ensured::Created(response)),
            Err(error) => match error.existing_operation_id() {
                Some(id) => self.read_existing(id, error).await,
                None => Err(error),
            },
        }
    }

    /// Reads the operation that a duplicate error names.
    async fn read_existing(&self, id: OperationId, duplicate: Error) -> Result<Ensured, Error> {
        match self.get(id).await {
            Ok(operation) => Ok(Ensured::AlreadyExists(operation)),
            Err(error) => Err(error.after_duplicate(&duplicate)),
        }
    }

    async fn create_task(
        &self,
        offer: &NewPreAuthorization,
        key: IdempotencyKey,
    ) -> Result<Task, Error> {
        let payload = if let Some(file) = &offer.file {
            Payload::Form(Form::new(&offer.body, file, draw_boundary()?).await?)
        } else {
            let json = serde_json::to_vec(&offer.body)
                .map_err(|cause| Error::new(ErrorKind::Config).caused_by(cause))?;
            Payload::Json(json.into())
        };
        Task::create(self.inner.base_url.collection(), payload, key)
    }
}
