//! The HTTP client and everything that it must not do.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, retry};
use thiserror::Error;

use crate::dispatcher::TargetPolicy;

use super::HttpSenderOptions;
use super::answer::MAX_HEAD_BYTES;
use super::resolver::JudgingResolver;

/// Connections kept per receiver.
const MAX_IDLE_CONNECTIONS: usize = 8;
/// How long an unused connection is kept; receivers tend to close theirs after a minute.
const IDLE_CONNECTION: Duration = Duration::from_secs(50);

/// Why a sender could not be set up.
#[derive(Debug, Error)]
#[error("http client cannot be set up")]
pub struct SenderError(#[source] reqwest::Error);

/// Builds the client. Under the sandbox's policy a machine without root certificates gets one that
/// trusts nobody, which is enough for plain HTTP.
pub(super) fn build(options: &HttpSenderOptions) -> Result<Client, SenderError> {
    match (configured(options).build(), &options.policy) {
        (Ok(client), _) => Ok(client),
        (Err(error), TargetPolicy::Public) => Err(SenderError(error)),
        (Err(_), TargetPolicy::AllowLocal) => {
            tracing::warn!(target: "dispatcher", "no root certificates: https will not work");
            let without_roots = configured(options).tls_certs_only([]);
            without_roots.build().map_err(SenderError)
        }
    }
}

fn configured(options: &HttpSenderOptions) -> ClientBuilder {
    let resolver = JudgingResolver {
        lookup: Arc::clone(&options.lookup),
        policy: options.policy.clone(),
    };
    // Cookies and decompression are not even compiled in.
    Client::builder()
        .redirect(Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .https_only(!options.policy.allows_plain_http())
        .dns_resolver(resolver)
        .connect_timeout(options.connect)
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .pool_idle_timeout(IDLE_CONNECTION)
        .http2_max_header_list_size(MAX_HEAD_BYTES)
}
