//! Which receivers are allowed now: the policy, and the resolver of names.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::live::Live;

use super::endpoint_url::{EndpointUrl, validate_url};
use super::host::Host;
use super::lookup::{Lookup, LookupError};
use super::policy::EndpointPolicy;
use super::{SystemLookup, UrlRefusal};

/// Maximum wait for the resolver at a registration.
const REGISTRATION: Duration = Duration::from_secs(5);

/// Checks receivers by their URL and by the addresses of their name.
#[derive(Clone)]
pub struct EndpointValidator {
    policy: Live<Arc<EndpointPolicy>>,
    lookup: Arc<dyn Lookup>,
}

/// Why a receiver was not accepted.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// It is not allowed.
    #[error(transparent)]
    Refused(#[from] UrlRefusal),
    /// Its name could not be looked up, so the check is undecided.
    #[error("host name could not be looked up")]
    Unknown(#[source] Box<dyn Error + Send + Sync>),
}

impl EndpointValidator {
    /// Applies this policy, with names resolved by `lookup`.
    #[must_use]
    pub fn new(policy: EndpointPolicy, lookup: Arc<dyn Lookup>) -> Self {
        Self {
            policy: Live::new(Arc::new(policy)),
            lookup,
        }
    }

    /// Applies this policy, with names resolved by the operating system.
    #[must_use]
    pub fn by_system(policy: EndpointPolicy) -> Self {
        Self::new(policy, Arc::new(SystemLookup::default()))
    }

    /// The policy at this moment.
    #[must_use]
    pub fn policy(&self) -> Arc<EndpointPolicy> {
        self.policy.get()
    }

    /// Applies another policy from now on, and so do all clones.
    pub fn replace_policy(&self, policy: EndpointPolicy) {
        self.policy.set(Arc::new(policy));
    }

    /// Checks a receiver before it is registered: its URL, and every address that its name has now.
    /// Waits 5 seconds for the resolver.
    pub async fn validate(&self, url: &str) -> Result<EndpointUrl, EndpointError> {
        let endpoint = self.parse(url)?;
        let validated = tokio::time::timeout(REGISTRATION, self.addresses(&endpoint)).await;
        validated.map_err(|late| EndpointError::Unknown(late.into()))??;
        Ok(endpoint)
    }

    /// Checks the text of a URL; see [`validate_url`].
    pub fn parse(&self, url: &str) -> Result<EndpointUrl, UrlRefusal> {
        validate_url(url, &self.policy())
    }

    /// Resolves a receiver once, and checks every address.
    ///
    /// One forbidden address invalidates the whole answer: an answer that mixes public and private
    /// addresses may be an attempt to have only the public one checked.
    pub async fn addresses(&self, endpoint: &EndpointUrl) -> Result<Vec<IpAddr>, EndpointError> {
        let addresses = match endpoint.host() {
            Host::Address(address) => vec![*address],
            Host::Name(name) => self.lookup.addresses(name).await?,
        };
        self.policy().validate(&addresses, endpoint.departure())?;
        Ok(addresses)
    }

    /// Whether a socket may be connected to `address`.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        self.policy().allows_address(address)
    }
}

impl From<LookupError> for EndpointError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::NoAddress => Self::Refused(UrlRefusal::NameUnknown),
            LookupError::Unavailable(cause) => Self::Unknown(cause.into()),
        }
    }
}

impl fmt::Debug for EndpointValidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointValidator")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Arc;

    use async_trait::async_trait;

    use super::{EndpointError, EndpointValidator};
    use crate::dispatcher::{EndpointPolicy, Lookup, LookupError, UrlRefusal};

    /// Returns these addresses; without any, the resolver is down.
    struct Fixed(&'static [&'static str]);

    #[async_trait]
    impl Lookup for Fixed {
        async fn addresses(&self, _name: &str) -> Result<Vec<IpAddr>, LookupError> {
            if self.0.is_empty() {
                return Err(LookupError::unavailable("down"));
            }
            Ok(self.0.iter().map(|text| text.parse().unwrap()).collect())
        }
    }

    /// Never answers.
    struct Silent;

    #[async_trait]
    impl Lookup for Silent {
        async fn addresses(&self, _name: &str) -> Result<Vec<IpAddr>, LookupError> {
            std::future::pending().await
        }
    }

    fn public(lookup: impl Lookup + 'static) -> EndpointValidator {
        EndpointValidator::new(EndpointPolicy::public(), Arc::new(lookup))
    }

    async fn addresses(answer: &'static [&'static str]) -> Result<Vec<IpAddr>, EndpointError> {
        let validator = public(Fixed(answer));
        let endpoint = validator.parse("https://a.example.com/").unwrap();
        validator.addresses(&endpoint).await
    }

    #[tokio::test]
    async fn all_addresses_of_a_public_answer_are_given() {
        let found = addresses(&["93.184.215.14", "2606:2800:21f::1"]).await;
        assert_eq!(found.unwrap().len(), 2);
    }

    #[tokio::test]
    async fn a_mixed_answer_is_refused_whole() {
        for (answer, private) in [
            (&["93.184.215.14", "10.0.0.1"], "10.0.0.1"),
            (&["::1", "93.184.215.14"], "::1"),
        ] {
            let refused = addresses(answer).await.unwrap_err();
            let expected = UrlRefusal::AddressNotPublic(private.parse().unwrap());
            assert!(
                matches!(refused, EndpointError::Refused(refusal) if refusal == expected),
                "{refused:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_resolver_that_is_down_or_silent_is_no_refusal() {
        for validator in [public(Fixed(&[])), public(Silent)] {
            let validated = validator.validate("https://a.example.com/").await;
            assert!(
                matches!(validated, Err(EndpointError::Unknown(_))),
                "{validated:?}"
            );
        }
    }

    #[tokio::test]
    async fn an_address_needs_no_resolver() {
        let validated = public(Silent).validate("https://1.1.1.1/").await;
        assert_eq!(validated.unwrap().url().as_str(), "https://1.1.1.1/");
    }

    #[tokio::test]
    async fn a_plain_url_is_allowed_where_its_name_leads_to_listed_networks_only() {
        let policy = || EndpointPolicy::public_and(vec!["10.1.0.0/16".parse().unwrap()]);
        let validate = |answer| async move {
            let validator = EndpointValidator::new(policy(), Arc::new(Fixed(answer)));
            validator.validate("http://receiver:8080/").await
        };
        assert!(validate(&["10.1.2.3"]).await.is_ok());
        let mixed = validate(&["10.1.2.3", "93.184.215.14"]).await;
        let expected = UrlRefusal::Scheme;
        assert!(matches!(mixed, Err(EndpointError::Refused(it)) if it == expected));
    }
}
