//! Invalid settings.

use std::error::Error as StdError;
use std::fmt;

use super::line;

/// Why a client cannot be built. The text contains neither the key nor the address. `Debug` writes the
/// same text and then its source.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The base address begins with neither `https://` nor `http://`.
    #[error("the base url does not begin with https:// or http://")]
    BaseUrlScheme,
    /// The base address is not a URL.
    #[error("the base url is invalid")]
    BaseUrl(#[source] Box<dyn StdError + Send + Sync>),
    /// The base address has a user or password in it.
    #[error("the base url has a user or password; give the api key by itself")]
    BaseUrlCredentials,
    /// The base address has a query or fragment.
    #[error("the base url has a query or a fragment; only a path may follow the host")]
    BaseUrlTail,
    /// Plain HTTP to another machine would expose the key on the network.
    #[error("the base url is plain http to another machine, or through a proxy; use https")]
    BaseUrlInsecure,
    /// The key does not begin with the prefix of an API key; it may be another secret.
    #[error("the api key does not begin with service_sk_")]
    ApiKeyPrefix,
    /// The key has a character that no API key contains, such as a line break.
    #[error("the api key has a character that no key has; was a line end copied along?")]
    ApiKeyCharacters,
    /// The proxy's address is not a valid proxy address.
    #[error("the proxy's url is invalid; expected such as http://proxy.example.com:3128")]
    Proxy,
    /// The added root certificates are not certificates in PEM.
    #[error(
        "the added root certificates are not certificates in pem (-----BEGIN CERTIFICATE-----)"
    )]
    RootCertificates,
    /// No thread or runtime could be started for blocking calls.
    #[error("no runtime for blocking calls could be started")]
    Runtime(#[source] std::io::Error),
    /// The HTTP stack could not be set up, for example because the system has no root certificates.
    #[error("the http stack could not be set up")]
    HttpStack(#[source] Box<dyn StdError + Send + Sync>),
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line::with_causes(self, f)
    }
}
