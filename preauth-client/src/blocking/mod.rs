//! The same calls for programs without a runtime: each blocks its thread until it has finished
//! (feature `blocking`).
//!
//! ```no_run
//! use preauth_client::ListFilter;
//! use preauth_client::blocking::Client;
//! use preauth_client::value::OperationId;
//!
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new("https://api.example.com", std::env::var("PREAUTH_API_KEY")?)?;
//! let operation = client.get(OperationId::parse("1042")?)?;
//! println!("{}: {}", operation.id, operation.status);
//! for operation in client.list_all(&ListFilter::new()) {
//!     println!("{}", operation?.id);
//! }
//! # Ok(())
//! # }
//! ```

mod background;

use std::sync::Arc;
use std::time::Duration;

use preauth_core::value::{EventType, OperationId, Status};
use preauth_core::wire::{PreAuthorization, PreAuthorizationList, RawEventEnvelope, Validation};

use crate::{
    ClientBuilder, ConfigError, CursorStore, Ensured, Error, ListFilter, ManyOutcome,
    NewPreAuthorization, Progress, Response, WaitPolicy, Waited,
};

use background::{Background, caught};

/// A client whose calls block: cheap to clone, shared by any number of threads.
///
/// It runs its work on one thread of its own, so it may be used anywhere. Inside a runtime it blocks the
/// calling thread; [the asynchronous client](crate::Client) does not.
#[derive(Clone, Debug)]
pub struct Client {
    inner: crate::Client,
    background: Arc<Background>,
}

impl Client {
    /// A client with the default settings; see [`crate::Client::new`].
    pub fn new(
        base_url: impl Into<String>,
        api_key: impl Into<String>,
    ) -> Result<Self, ConfigError> {
        Self::builder(base_url, api_key).build_blocking()
    }

    /// Settings for a client; finish with [`ClientBuilder::build_blocking`].
    pub fn builder(base_url: impl Into<String>, api_key: impl Into<String>) -> ClientBuilder {
        crate::Client::builder(base_url, api_key)
    }

    /// Offers an advance to a supplier; see [`crate::Client::create`].
    pub fn create(&self, offer: &NewPreAuthorization) -> Result<Response<PreAuthorization>, Error> {
        let (client, offer) = (self.inner.clone(), offer.clone());
        self.background
            .run(async move { client.create(&offer).await })?
    }

    /// Ensures that the invoice is on offer; see [`crate::Client::create_or_get`].
    pub fn create_or_get(&self, offer: &NewPreAuthorization) -> Result<Ensured, Error> {
        let (client, offer) = (self.inner.clone(), offer.clone());
        self.background
            .run(async move { client.create_or_get(&offer).await })?
    }

    /// Offers many advances; see [`crate::Client::create_many`].
    pub fn create_many(
        &self,
        offers: impl IntoIterator<Item = NewPreAuthorization>,
    ) -> Result<CreateMany, Error> {
        Ok(CreateMany {
            inner: Some(self.inner.create_many(offers)?),
            has_panicked: false,
            background: Arc::clone(&self.background),
        })
    }

    /// Asks whether an offer would be accepted; see [`crate::Client::validate`].
    pub fn validate(&self, offer: &NewPreAuthorization) -> Result<Response<Validation>, Error> {
        let (client, offer) = (self.inner.clone(), offer.clone());
        self.background
            .run(async move { client.validate(&offer).await })?
    }

    /// Reads one operation; see [`crate::Client::get`].
    pub fn get(&self, id: OperationId) -> Result<Response<PreAuthorization>, Error> {
        let client = self.inner.clone();
        self.background.run(async move { client.get(id).await })?
    }

    /// Reads one page of operations; see [`crate::Client::list`].
    pub fn list(&self, filter: &ListFilter) -> Result<Response<PreAuthorizationList>, Error> {
        let (client, filter) = (self.inner.clone(), filter.clone());
        self.background
            .run(async move { client.list(&filter).await })?
    }

    /// All operations that match the filter; see [`crate::Client::list_all`].
    pub fn list_all(&self, filter: &ListFilter) -> Operations {
        Operations {
            inner: Some(self.inner.list_all(filter)),
            background: Arc::clone(&self.background),
        }
    }

    /// The events of the key's company, oldest first; see [`crate::Client::events`].
    pub fn events(&self, store: impl CursorStore + 'static) -> Events {
        Events {
            inner: Some(self.inner.events(store)),
            background: Arc::clone(&self.background),
        }
    }

    /// Cancels an offer; see [`crate::Client::cancel`].
    pub fn cancel(&self, id: OperationId) -> Result<Response<PreAuthorization>, Error> {
        let client = self.inner.clone();
        self.background
            .run(async move { client.cancel(id).await })?
    }

    /// Polls an operation for a status; see [`crate::Client::wait_for_status`].
    pub fn wait_for_status(
        &self,
        id: OperationId,
        wanted: &[Status],
        policy: WaitPolicy,
    ) -> Result<Waited, Error> {
        let (client, wanted) = (self.inner.clone(), wanted.to_vec());
        self.background
            .run(async move { client.wait_for_status(id, &wanted, policy).await })?
    }
}

impl ClientBuilder {
    /// Like [`build`](Self::build), for programs without a runtime.
    pub fn build_blocking(self) -> Result<Client, ConfigError> {
        let inner = self.build()?;
        let background = Background::start().map_err(ConfigError::Runtime)?;
        Ok(Client {
            inner,
            background: Arc::new(background),
        })
    }
}

/// All operations that match a filter, one after the other; [`crate::Operations`] describes its
/// guarantees.
#[derive(Debug)]
#[must_use = "nothing is read before it is asked for"]
pub struct Operations {
    /// `None` while the background thread works with it.
    inner: Option<crate::Operations>,
    background: Arc<Background>,
}

impl Iterator for Operations {
    type Item = Result<PreAuthorization, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut inner = self.inner.take()?;
        let answer = self.background.run(async move {
            let next = inner.next().await;
            (next, inner)
        });
        match answer {
            Ok((next, inner)) => {
                self.inner = Some(inner);
                next
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// Offers being sent in batches, one outcome after the other; [`crate::CreateMany`] describes its guarantees.
/// A panic in the caller's observer is an `Err` that ends it, and the offers are kept.
#[derive(Debug)]
#[must_use = "nothing is sent before an outcome is asked for"]
pub struct CreateMany {
    /// `None` while the background thread works with it.
    inner: Option<crate::CreateMany>,
    /// What is left cannot go on, but the offers are there.
    has_panicked: bool,
    background: Arc<Background>,
}

impl CreateMany {
    /// How far it is; see [`crate::CreateMany::progress`].
    #[must_use]
    pub fn progress(&self) -> Progress {
        let inner = self.inner.as_ref();
        inner.map(crate::CreateMany::progress).unwrap_or_default()
    }

    /// The offers without an outcome; see [`crate::CreateMany::into_unsettled`].
    #[must_use]
    pub fn into_unsettled(self) -> Vec<NewPreAuthorization> {
        let inner = self.inner.map(crate::CreateMany::into_unsettled);
        inner.unwrap_or_default()
    }
}

impl Iterator for CreateMany {
    type Item = Result<ManyOutcome, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_panicked {
            return None;
        }
        let mut inner = self.inner.take()?;
        let answer = self.background.run(async move {
            let next = caught(inner.next()).await;
            (next, inner)
        });
        match answer {
            Ok((next, inner)) => {
                self.inner = Some(inner);
                self.has_panicked = next.is_err();
                next.unwrap_or_else(|error| Some(Err(error)))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// Events on request, one after the other; [`crate::Events`] describes its guarantees.
#[derive(Debug)]
#[must_use = "nothing is read before it is asked for"]
pub struct Events {
    /// `None` while the background thread works with it.
    inner: Option<crate::Events>,
    background: Arc<Background>,
}

impl Events {
    /// Only events of these types; see [`crate::Events::types`].
    pub fn types(self, types: impl IntoIterator<Item = EventType>) -> Self {
        self.with(|inner| inner.types(types))
    }

    /// Maximum number of events of one answer; see [`crate::Events::limit`].
    pub fn limit(self, limit: u32) -> Self {
        self.with(|inner| inner.limit(limit))
    }

    /// How long a request waits for the next event; see [`crate::Events::wait`].
    pub fn wait(self, wait: Duration) -> Self {
        self.with(|inner| inner.wait(wait))
    }

    /// Begins again when the cursor has expired; see [`crate::Events::begin_again_when_expired`].
    pub fn begin_again_when_expired(self) -> Self {
        self.with(crate::Events::begin_again_when_expired)
    }

    fn with(self, change: impl FnOnce(crate::Events) -> crate::Events) -> Self {
        Self {
            inner: self.inner.map(change),
            ..self
        }
    }
}

impl Iterator for Events {
    type Item = Result<RawEventEnvelope, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut inner = self.inner.take()?;
        let answer = self.background.run(async move {
            let next = inner.next().await;
            (next, inner)
        });
        match answer {
            Ok((next, inner)) => {
                self.inner = Some(inner);
                next
            }
            Err(error) => Some(Err(error)),
        }
    }
}
