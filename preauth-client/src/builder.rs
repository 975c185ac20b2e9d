//! Setting up a client.

use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::redirect;
use secrecy::SecretString;

use crate::api_key::authorization;
use crate::base_url::BaseUrl;
use crate::call::Caller;
use crate::transport::Transport;
use crate::{Client, ConfigError, RetryPolicy};

/// A kept connection is not used again after this time: the service closes it after 75 s.
const IDLE_CONNECTION_LIMIT: Duration = Duration::from_mins(1);

/// What the client calls itself towards the service.
const USER_AGENT: &str = concat!("preauth-client/", env!("CARGO_PKG_VERSION"));

/// Settings of a [`Client`]; everything but address and key has a default.
///
/// Neither proxies nor anything else is taken from the environment, and no redirect is followed: the
/// key goes to the address that is given here and to none other.
#[must_use]
pub struct ClientBuilder {
    base_url: String,
    api_key: SecretString,
    connect_timeout: Duration,
    attempt_timeout: Duration,
    retry: RetryPolicy,
    max_answer_bytes: usize,
    allow_plain_http: bool,
}

impl ClientBuilder {
    pub(crate) fn new(base_url: String, api_key: String) -> Self {
        Self {
            base_url,
            api_key: SecretString::from(api_key),
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(20),
            retry: RetryPolicy::default(),
            max_answer_bytes: 4 * 1024 * 1024,
            allow_plain_http: false,
        }
    }

    /// The time to connect, TLS included; 5 s unless said otherwise.
    pub const fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The time for one attempt, from connecting to the last byte of the answer; 20 s unless said
    /// otherwise. The time for the whole call is [`RetryPolicy::budget`].
    pub const fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// When failed requests are sent again; [`RetryPolicy::default`] unless said otherwise.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// The longest answer that is accepted, in bytes; 4 MiB unless said otherwise, which is more than
    /// twenty times a full page.
    pub const fn max_answer_bytes(mut self, bytes: usize) -> Self {
        self.max_answer_bytes = bytes;
        self
    }

    /// Whether a base address with `http://` may lead to another machine. The key then travels
    /// readable for everybody on the way: for test networks only.
    pub const fn allow_plain_http(mut self, allow: bool) -> Self {
        self.allow_plain_http = allow;
        self
    }

    /// Judges the settings and builds the client. Nothing is sent.
    pub fn build(self) -> Result<Client, ConfigError> {
        let base_url = BaseUrl::parse(&self.base_url, self.allow_plain_http)?;
        let headers = HeaderMap::from_iter([(AUTHORIZATION, authorization(&self.api_key)?)]);
        let mut http = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .default_headers(headers)
            .connect_timeout(self.connect_timeout)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .pool_idle_timeout(IDLE_CONNECTION_LIMIT)
            .referer(false);
        if !base_url.is_secure() {
            // Without TLS no root certificate is needed, and a bare container may have none.
            http = http.tls_certs_only([]);
        }
        let http = http
            .build()
            .map_err(|error| ConfigError::HttpStack(Box::new(error)))?;
        let transport = Transport {
            http,
            max_answer_bytes: self.max_answer_bytes,
        };
        let caller = Caller {
            transport,
            attempt_timeout: self.attempt_timeout,
            retry: self.retry,
        };
        Ok(Client::from_parts(base_url, caller))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither key nor address: the address has not been judged and may hold a password.
        f.debug_struct("ClientBuilder")
            .field("connect_timeout", &self.connect_timeout)
            .field("attempt_timeout", &self.attempt_timeout)
            .field("retry", &self.retry)
            .field("max_answer_bytes", &self.max_answer_bytes)
            .field("allow_plain_http", &self.allow_plain_http)
            .finish_non_exhaustive()
    }
}
