//! The client: one method per call of the API.

mod build;
mod create;
mod create_many;
mod events;
mod list_all;
mod validate;
mod wait;

use std::fmt;
use std::sync::Arc;

use preauth_core::value::OperationId;
use preauth_core::wire::{PreAuthorization, PreAuthorizationList, path};
use reqwest::Url;

use crate::base_url::BaseUrl;
use crate::caller::{Caller, Task};
use crate::{Call, ClientBuilder, ConfigError, Error, ListFilter, Response};

/// A client of the integration API: cheap to clone, and shared by any number of tasks.
///
/// It must be used inside a tokio runtime; `blocking::Client` (feature `blocking`) needs none.
///
/// # Dropped futures
///
/// Dropping the future of a call, through a timeout or a `select!`, abandons the call: no further attempt
/// is made. A request that was already sent may or may not be carried out, and the caller does not learn
/// which.
///
/// - `get`, `list`, `list_all`, `events`, `validate`, `wait_for_status`, and what `create_many` returns: nothing is lost.
/// - `cancel`: cancel again; cancelling a cancelled operation is a success and changes nothing.
/// - `create`, `create_or_get`: create again **under the same key**, which a dropped future can no longer
///   return: give it one of your own ([`NewPreAuthorization::idempotency_key`](crate::NewPreAuthorization::idempotency_key)).
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
    /// `https://api.example.com`. A trailing `/api/integration/v1`, the path of the API, is accepted and
    /// changes nothing.
    pub fn new(
        base_url: impl Into<String>,
        api_key: impl Into<String>,
    ) -> Result<Self, ConfigError> {
        Self::builder(base_url, api_key).build()
    }

    /// Settings for a client of the service at `base_url`, in the forms that [`Client::new`] accepts.
    pub fn builder(base_url: impl Into<String>, api_key: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(base_url.into(), api_key.into())
    }

    /// Reads one operation.
    /// [Contract, "GET /api/integration/v1/pre-authorizations/{id}"](https://example.com/preauth/blob/main/docs/reference.md#get-apiintegrationv1pre-authorizationsid).
    pub async fn get(&self, id: OperationId) -> Result<Response<PreAuthorization>, Error> {
        let url = self.url(&path::pre_authorization(id));
        self.caller().call(Task::about(Call::Get, id, url)).await
    }

    /// Reads one page of the operations in which the caller's company is the payer, most recent
    /// first.
    /// [Contract, "GET /api/integration/v1/pre-authorizations"](https://example.com/preauth/blob/main/docs/reference.md#get-apiintegrationv1pre-authorizations).
    ///
    /// Pages shift between requests. When operations are created, the last entries of one page are
    /// repeated at the top of the next; when operations no longer match the filter, entries are
    /// skipped. [`list_all`](Self::list_all) neither repeats nor skips any.
    pub async fn list(&self, filter: &ListFilter) -> Result<Response<PreAuthorizationList>, Error> {
        let mut url = self.inner.base_url.collection();
        filter.write_query(&mut url);
        self.caller().call(Task::new(Call::List, url)).await
    }

    /// Cancels an offer that the supplier has not yet requested.
    /// [Contract, "POST /api/integration/v1/pre-authorizations/{id}/cancel"](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizationsidcancel).
    ///
    /// Cancelling an operation again that was cancelled through the integration succeeds and changes nothing.
    pub async fn cancel(&self, id: OperationId) -> Result<Response<PreAuthorization>, Error> {
        let url = self.url(&path::cancel(id));
        self.caller().call(Task::about(Call::Cancel, id, url)).await
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.inner.caller
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        self.inner.base_url.join(path)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base_url", &self.inner.base_url.as_str())
            .field("retry", &self.inner.caller.retry)
            .finish_non_exhaustive()
    }
}
