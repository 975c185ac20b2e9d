//! The settings of the HTTP library.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Certificate, Proxy, redirect};
use secrecy::{ExposeSecret, SecretString};

use crate::ConfigError;
use crate::base_url::BaseUrl;

/// Maximum idle time of a connection before it is no longer reused: the service closes it after 75 s.
const IDLE_CONNECTION_LIMIT: Duration = Duration::from_secs(60);

/// The `User-Agent` of every request.
const USER_AGENT: &str = concat!("preauth-client/", env!("CARGO_PKG_VERSION"));

pub(super) struct HttpSettings {
    pub(super) connect_timeout: Duration,
    /// May contain a password.
    pub(super) proxy: Option<SecretString>,
    /// Root certificates in PEM, not yet parsed.
    pub(super) roots: Vec<Vec<u8>>,
    pub(super) only_added_roots: bool,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            proxy: None,
            roots: Vec::new(),
            only_added_roots: false,
        }
    }
}

impl HttpSettings {
    pub(super) fn client(
        &self,
        base_url: &BaseUrl,
        authorization: HeaderValue,
    ) -> Result<reqwest::Client, ConfigError> {
        let mut builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, authorization)]))
            .connect_timeout(self.connect_timeout)
            .redirect(redirect::Policy::none())
            // Ignore proxies from the environment. A proxy from the settings is added below.
            .no_proxy()
            .pool_idle_timeout(IDLE_CONNECTION_LIMIT)
            .referer(false);
        if let Some(url) = &self.proxy {
            // The cause would repeat the address, and with it the password.
            let proxy = Proxy::all(url.expose_secret()).map_err(|_| ConfigError::Proxy)?;
            builder = builder.proxy(proxy);
        }
        let roots = self.certificates()?;
        // Without TLS no root certificate is needed, and a bare container may have none.
        builder = if self.only_added_roots || (!base_url.is_secure() && self.proxy.is_none()) {
            builder.tls_certs_only(roots)
        } else {
            builder.tls_certs_merge(roots)
        };
        builder
            .build()
            .map_err(|error| ConfigError::HttpStack(Box::new(error)))
    }

    fn certificates(&self) -> Result<Vec<Certificate>, ConfigError> {
        let mut certificates = Vec::new();
        for pem in &self.roots {
            let found = Certificate::from_pem_bundle(pem);
            let found = found.map_err(|_| ConfigError::RootCertificates)?;
            if found.is_empty() {
                return Err(ConfigError::RootCertificates);
            }
            certificates.extend(found);
        }
        Ok(certificates)
    }
}
