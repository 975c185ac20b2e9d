//! From names to addresses: one resolution, and every address of it judged.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;
use thiserror::Error;

use super::policy::TargetPolicy;

/// Resolves names: the system's resolver, or a test's own.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// All addresses of `name`; an error, or none, when it has none.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((name, 0)).await?;
        Ok(found.map(|socket| socket.ip()).collect())
    }
}

/// Why a name gives no address to connect to.
#[derive(Debug, Error)]
pub enum LookupError {
    /// It has no address, or none could be learned.
    #[error("name has no address")]
    NotFound(#[source] Option<io::Error>),
    /// At least one of its addresses is not allowed.
    #[error("name has an address that is not allowed")]
    NotAllowed,
}

/// Resolves `name` once and judges every address.
///
/// One address that is not allowed spoils the whole answer: whoever mixes a public and a private
/// address hopes that only one of the two is looked at.
pub async fn judged_addresses(
    lookup: &dyn Lookup,
    name: &str,
    policy: &TargetPolicy,
) -> Result<Vec<IpAddr>, LookupError> {
    let found = lookup.addresses(name).await;
    let addresses = found.map_err(|cause| LookupError::NotFound(Some(cause)))?;
    if addresses.is_empty() {
        return Err(LookupError::NotFound(None));
    }
    if addresses
        .iter()
        .all(|address| policy.allows_address(*address))
    {
        Ok(addresses)
    } else {
        Err(LookupError::NotAllowed)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::IpAddr;

    use async_trait::async_trait;

    use super::{Lookup, LookupError, judged_addresses};
    use crate::dispatcher::TargetPolicy;

    struct Fixed(&'static [&'static str]);

    #[async_trait]
    impl Lookup for Fixed {
        async fn addresses(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
            Ok(self.0.iter().map(|text| text.parse().unwrap()).collect())
        }
    }

    async fn judged(answer: &'static [&'static str]) -> Result<Vec<IpAddr>, LookupError> {
        judged_addresses(&Fixed(answer), "a.example.com", &TargetPolicy::Public).await
    }

    #[tokio::test]
    async fn all_addresses_of_a_public_answer_are_given() {
        let addresses = judged(&["93.184.215.14", "2606:2800:21f::1"])
            .await
            .unwrap();
        assert_eq!(addresses.len(), 2);
    }

    #[tokio::test]
    async fn a_mixed_answer_is_refused_whole() {
        for answer in [&["93.184.215.14", "10.0.0.1"], &["::1", "93.184.215.14"]] {
            let refused = judged(answer).await;
            assert!(
                matches!(refused, Err(LookupError::NotAllowed)),
                "{answer:?}"
            );
        }
    }

    #[tokio::test]
    async fn an_empty_answer_is_no_answer() {
        assert!(matches!(
            judged(&[]).await,
            Err(LookupError::NotFound(None))
        ));
    }
}
