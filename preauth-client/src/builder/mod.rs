//! Setting up a client.

mod http;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::api_key::authorization;
use crate::attempt::Observer;
use crate::base_url::{BaseUrl, PlainHttp};
use crate::caller::Caller;
use crate::timing::SystemTiming;
use crate::transport::Transport;
use crate::{Attempt, ConfigError, RetryPolicy, Timing};

use http::HttpSettings;

/// Settings of a [`Client`](crate::Client); everything but address and key has a default.
///
/// Nothing is read from the environment, proxies included, and no redirect is followed: the key is sent
/// only to the address given here.
#[must_use]
pub struct ClientBuilder {
    base_url: String,
    api_key: SecretString,
    http: HttpSettings,
    attempt_timeout: Duration,
    retry: RetryPolicy,
    max_answer_bytes: usize,
    allow_plain_http: bool,
    timing: Option<Arc<dyn Timing>>,
    observer: Option<Observer>,
}

impl ClientBuilder {
    pub(crate) fn new(base_url: String, api_key: String) -> Self {
        Self {
            base_url,
            api_key: SecretString::from(api_key),
            http: HttpSettings::default(),
            attempt_timeout: Duration::from_secs(20),
            retry: RetryPolicy::default(),
            max_answer_bytes: 4 * 1024 * 1024,
            allow_plain_http: false,
            timing: None,
            observer: None,
        }
    }

    /// Maximum time to connect, TLS included (default: 5 s).
    pub const fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.http.connect_timeout = timeout;
        self
    }

    /// Maximum time of one attempt, from connecting to the last byte of the answer (default: 20 s). The
    /// time for the whole call is [`RetryPolicy::budget`].
    pub const fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// When failed requests are sent again (default: [`RetryPolicy::default`]).
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Maximum size of an answer in bytes (default: 4 MiB, more than twenty times a full page).
    pub const fn max_answer_bytes(mut self, bytes: usize) -> Self {
        self.max_answer_bytes = bytes;
        self
    }

    /// Whether a base address with `http://` may name another machine, or be reached through a proxy. The key is then sent
    /// unencrypted: for test networks only.
    pub const fn allow_plain_http(mut self, allow: bool) -> Self {
        self.allow_plain_http = allow;
        self
    }

    /// Sends everything through the proxy at `url`, such as
    /// `http://user:password@proxy.example.com:3128`. The proxy does not decrypt TLS. Without this
    /// setting no proxy is used, not even one from the environment.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.http.proxy = Some(SecretString::from(url.into()));
        self
    }

    /// Also trusts the certificates in `pem`, one or more, for example those of the company's own
    /// certificate authority.
    pub fn add_root_certificates(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.http.roots.push(pem.as_ref().to_vec());
        self
    }

    /// Whether the roots of the system are left out, so that only roots that [were
    /// added](Self::add_root_certificates) are trusted.
    pub const fn only_added_roots(mut self, only: bool) -> Self {
        self.http.only_added_roots = only;
        self
    }

    /// Calls `observer` after each attempt, successful or failed, for metrics and custom logs. It runs
    /// within the call, so it must neither block nor panic.
    ///
    /// ```
    /// use preauth_client::Client;
    ///
    /// let client = Client::builder("https://api.example.com", "service_sk_example")
    ///     .on_attempt(|attempt| {
    ///         if let Some(wait) = attempt.retry_in {
    ///             eprintln!("{} failed, again in {wait:?}", attempt.call);
    ///         }
    ///     })
    ///     .build()?;
    /// # Ok::<(), preauth_client::ConfigError>(())
    /// ```
    pub fn on_attempt(mut self, observer: impl Fn(&Attempt<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Observer::new(observer));
        self
    }

    /// Replaces clock, sleep and randomness, for tests (default: the runtime's clock and the system's
    /// randomness).
    pub fn timing(mut self, timing: impl Timing) -> Self {
        self.timing = Some(Arc::new(timing));
        self
    }

    /// Validates the settings and builds the base address and the caller.
    pub(crate) fn into_parts(self) -> Result<(BaseUrl, Caller), ConfigError> {
        let plain_http = match (self.allow_plain_http, &self.http.proxy) {
            (true, _) => PlainHttp::Anywhere,
            (false, Some(_)) => PlainHttp::Nowhere,
            (false, None) => PlainHttp::ToThisMachine,
        };
        let base_url = BaseUrl::parse(&self.base_url, plain_http)?;
        let authorization = authorization(&self.api_key)?;
        let transport = Transport {
            http: self.http.client(&base_url, authorization)?,
            max_answer_bytes: self.max_answer_bytes,
        };
        let caller = Caller {
            transport,
            attempt_timeout: self.attempt_timeout,
            retry: self.retry,
            timing: self.timing.unwrap_or_else(|| Arc::new(SystemTiming::new())),
            observer: self.observer,
        };
        Ok((base_url, caller))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key and the addresses are left out: they are not validated yet and may contain a password.
        f.debug_struct("ClientBuilder")
            .field("connect_timeout", &self.http.connect_timeout)
            .field("attempt_timeout", &self.attempt_timeout)
            .field("retry", &self.retry)
            .field("max_answer_bytes", &self.max_answer_bytes)
            .field("allow_plain_http", &self.allow_plain_http)
            .finish_non_exhaustive()
    }
}
