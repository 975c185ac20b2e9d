//! The four operations.

use std::fmt;
use std::sync::Arc;

use preauth_core::value::{IdempotencyKey, OperationId};
use preauth_core::wire::{PreAuthorization, PreAuthorizationList, header, path};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, Url};

use crate::base_url::BaseUrl;
use crate::call::Caller;
use crate::idempotency::draw_key;
use crate::{
    ClientBuilder, ConfigError, Error, ErrorKind, ListFilter, NewPreAuthorization, Response,
};

/// A client of the integration API: cheap to clone, and shared by any number of tasks.
///
/// It must be used inside a tokio runtime. Dropping the future of a call abandons it: the request may
/// or may not have been carried out. A create that is to survive that needs a key of the caller's
/// own ([`NewPreAuthorization::idempotency_key`]).
///
/// ```no_run
/// use preauth_client::Client;
/// use preauth_client::value::OperationId;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new("https://api.example.com", std::env::var("PREAUTH_API_KEY")?)?;
/// let operation = client.get(OperationId::parse("1042")?).await?;
/// println!("{}: {}", operation.id, operation.status);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    base_url: BaseUrl,
    caller: Caller,
}

impl Client {
    /// A client with the default settings, for the service at `base_url`, such as
    /// `https://api.example.com`. The path of the API, `/api/integration/v1`, may stand at its end; it is
    /// the same address with or without it.
    pub fn new(
        base_url: impl Into<String>,
        api_key: impl Into<String>,
    ) -> Result<Self, ConfigError> {
        Self::builder(base_url, api_key).build()
    }

    /// Settings for a client of the service at `base_url`, which is understood as by [`Client::new`].
    pub fn builder(base_url: impl Into<String>, api_key: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(base_url.into(), api_key.into())
    }

    pub(crate) fn from_parts(base_url: BaseUrl, caller: Caller) -> Self {
        let inner = Arc::new(Inner { base_url, caller });
        Self { inner }
    }

    /// Offers an advance to a supplier. Contract, "POST /api/integration/v1/pre-authorizations".
    ///
    /// All attempts of a call carry one idempotency key, the caller's or a drawn one, so that the
    /// offer is made at most once. After a failure that
    /// [may pass](Error::is_retryable), send it again with [that key](Error::idempotency_key). A key
    /// that was used before answers with the operation as it was created then:
    /// [`Response::is_replayed`].
    pub async fn create(
        &self,
        offer: &NewPreAuthorization,
    ) -> Result<Response<PreAuthorization>, Error> {
        let key = match &offer.idempotency_key {
            Some(key) => key.clone(),
            None => draw_key()?,
        };
        let config = |cause: Box<dyn std::error::Error + Send + Sync>| {
            Error::new(ErrorKind::Config).caused_by(cause)
        };
        let body = serde_json::to_vec(&offer.body).map_err(|error| config(error.into()))?;
        let mut request = Request::new(Method::POST, self.url(path::PRE_AUTHORIZATIONS));
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::IDEMPOTENCY_KEY, header_value(&key).map_err(config)?);
        *request.body_mut() = Some(body.into());
        self.inner.caller.call(request, Some(key)).await
    }

    /// Reads one operation. Contract, "GET /api/integration/v1/pre-authorizations/{id}".
    pub async fn get(&self, id: OperationId) -> Result<Response<PreAuthorization>, Error> {
        let request = Request::new(Method::GET, self.url(&path::pre_authorization(id)));
        self.inner.caller.call(request, None).await
    }

    /// Reads one page of the operations in which the caller's company is the payer, most recent
    /// first. Contract, "GET /api/integration/v1/pre-authorizations".
    ///
    /// Pages shift when new operations arrive in between: the last entries of one page may come again
    /// at the top of the next.
    pub async fn list(&self, filter: &ListFilter) -> Result<Response<PreAuthorizationList>, Error> {
        let mut url = self.url(path::PRE_AUTHORIZATIONS);
        filter.write_query(&mut url);
        let request = Request::new(Method::GET, url);
        self.inner.caller.call(request, None).await
    }

    /// Takes an offer back that the supplier has not yet taken up. Contract, "POST
    /// /api/integration/v1/pre-authorizations/{id}/cancel".
    ///
    /// Cancelling again what was cancelled through the integration succeeds and changes nothing.
    pub async fn cancel(&self, id: OperationId) -> Result<Response<PreAuthorization>, Error> {
        let request = Request::new(Method::POST, self.url(&path::cancel(id)));
        self.inner.caller.call(request, None).await
    }

    fn url(&self, path: &str) -> Url {
        self.inner.base_url.join(path)
    }
}

fn header_value(
    key: &IdempotencyKey,
) -> Result<HeaderValue, Box<dyn std::error::Error + Send + Sync>> {
    Ok(HeaderValue::from_str(key.as_str())?)
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base_url", &self.inner.base_url.as_str())
            .field("retry", &self.inner.caller.retry)
            .finish_non_exhaustive()
    }
}
