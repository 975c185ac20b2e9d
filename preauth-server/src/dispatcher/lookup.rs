//! From names to addresses: the port, and the resolver of the operating system.

use std::error::Error;
use std::net::IpAddr;

use async_trait::async_trait;
use dns_lookup::{AddrInfoHints, LookupErrorKind, SockType, getaddrinfo};
use thiserror::Error;

/// Resolves names: the system's resolver, or one that is configured.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// All addresses of `name`, which is a whole one: at least one address.
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, LookupError>;
}

/// Why a name gives no address.
#[derive(Debug, Error)]
pub enum LookupError {
    /// Whoever knows says that it does not exist, or has no address.
    #[error("name has no address")]
    NoAddress,
    /// Nobody could say.
    #[error("resolver gives no answer")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

impl LookupError {
    pub(super) fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into())
    }
}

/// The resolver of the operating system, with its hosts file.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    /// Blocks a thread of the runtime's for as long as the system takes, also when nobody waits for
    /// it any more.
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        let name = name.to_owned();
        let found = tokio::task::spawn_blocking(move || ask_system(&name)).await;
        found.map_err(LookupError::unavailable)?
    }
}

fn ask_system(name: &str) -> Result<Vec<IpAddr>, LookupError> {
    let hints = AddrInfoHints {
        socktype: SockType::Stream.into(),
        ..AddrInfoHints::default()
    };
    let found = getaddrinfo(Some(name), None, Some(hints)).map_err(|error| match error.kind() {
        LookupErrorKind::NoName | LookupErrorKind::NoData => LookupError::NoAddress,
        _ => LookupError::unavailable(std::io::Error::from(error)),
    })?;
    let addresses = found.map(|entry| entry.map(|entry| entry.sockaddr.ip()));
    let addresses: Result<Vec<_>, _> = addresses.collect();
    some(addresses.map_err(LookupError::unavailable)?)
}

/// No address is no answer.
pub(super) fn some(addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, LookupError> {
    if addresses.is_empty() {
        Err(LookupError::NoAddress)
    } else {
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::{Lookup, LookupError, SystemLookup};

    #[tokio::test]
    async fn the_system_knows_this_machine() {
        let addresses = SystemLookup.addresses("localhost").await.unwrap();
        assert!(addresses.iter().all(std::net::IpAddr::is_loopback));
    }

    #[tokio::test]
    async fn a_name_that_cannot_be_has_no_address() {
        let long = format!("{}.invalid", "a".repeat(64));
        let found = SystemLookup.addresses(&long).await;
        assert!(matches!(found, Err(LookupError::NoAddress)), "{found:?}");
    }
}
