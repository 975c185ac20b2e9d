//! A configured DNS resolver, queried over UDP, and over TCP when an answer does not fit.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use async_trait::async_trait;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use super::lookup::{Lookup, LookupError, some};

/// Timeout of one query.
const ANSWER: Duration = Duration::from_secs(1);
/// Number of attempts per query.
const TIMES: usize = 2;

/// Queries one recursive DNS resolver. Nothing is cached, and neither the system's hosts file nor
/// its search domains are used.
#[derive(Clone)]
pub struct DnsLookup {
    resolver: TokioResolver,
    address: SocketAddr,
}

impl DnsLookup {
    /// Uses the resolver at `address`; nothing is sent yet.
    pub fn new(address: SocketAddr) -> Result<Self, LookupError> {
        let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()];
        let connections = connections.map(|mut connection| {
            connection.port = address.port();
            connection
        });
        let server = NameServerConfig::new(address.ip(), true, connections.into());
        let config = ResolverConfig::from_name_servers(vec![server]);
        let provider = TokioRuntimeProvider::default();
        let resolver = TokioResolver::builder_with_config(config, provider)
            .with_options(options())
            .build()
            .map_err(LookupError::unavailable)?;
        Ok(Self { resolver, address })
    }
}

fn options() -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.timeout = ANSWER;
    options.attempts = TIMES;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options
}

#[async_trait]
impl Lookup for DnsLookup {
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        // The trailing dot makes the name absolute.
        let found = self.resolver.lookup_ip(format!("{name}.")).await;
        match found {
            Ok(found) => some(found.iter().collect()),
            Err(error) if has_no_address(&error) => Err(LookupError::NoAddress),
            Err(error) => Err(LookupError::unavailable(error)),
        }
    }
}

/// Whether the answer is that the name has no address, and not a failure to get an answer.
fn has_no_address(error: &NetError) -> bool {
    error.is_no_records_found()
}

impl fmt::Debug for DnsLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DnsLookup")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
