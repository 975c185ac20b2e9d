//! The policy for receivers.

use std::net::{IpAddr, Ipv6Addr};

use super::UrlRefusal;
use super::address::is_public;
use super::network::Network;

/// Which receivers are allowed (contract, "Endpoint registration rules").
///
/// The contract's rule is HTTPS on port 443 of public addresses. In addition an operator may list
/// networks. A departure from the contract's rule (another port, plain HTTP, a name or an address
/// that is not public) is allowed only if every address of the receiver is in a listed network. So
/// a list changes nothing for receivers outside of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointPolicy {
    listed: Vec<Network>,
    /// Whether public addresses may be reached over plain HTTP and on any port: for the sandbox.
    is_lenient: bool,
}

impl EndpointPolicy {
    /// The contract's rule alone.
    #[must_use]
    pub fn public() -> Self {
        Self::default()
    }

    /// The contract's rule, and everything in these networks.
    #[must_use]
    pub const fn public_and(listed: Vec<Network>) -> Self {
        Self {
            listed,
            is_lenient: false,
        }
    }

    /// For developers: this machine, and public addresses also over plain HTTP and on any port.
    #[must_use]
    pub fn sandbox() -> Self {
        Self {
            listed: vec![
                Network::v4([127, 0, 0, 0], 8),
                Network::of(Ipv6Addr::LOCALHOST),
            ],
            is_lenient: true,
        }
    }

    /// For `probe` alone, whose caller names the receiver and which runs no service: every address, every port,
    /// and plain HTTP. (`.ci/invariants` finds any other use.)
    #[must_use]
    pub(crate) fn named_by_caller() -> Self {
        Self {
            listed: vec![Network::v4([0; 4], 0), Network::v6([0; 4], 0)],
            is_lenient: true,
        }
    }

    /// The networks that are allowed in addition to public addresses.
    #[must_use]
    pub fn listed(&self) -> &[Network] {
        &self.listed
    }

    /// Whether plain HTTP is allowed, so that root certificates are optional.
    pub(super) const fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    /// Whether a socket may be connected to `address`.
    #[must_use]
    pub fn allows_address(&self, address: IpAddr) -> bool {
        is_public(address) || self.lists(address)
    }

    /// Checks the addresses of a receiver, given the departure of its URL from the contract's rule.
    /// The error names the address that is not allowed.
    pub(super) fn validate(
        &self,
        addresses: &[IpAddr],
        departure: Option<UrlRefusal>,
    ) -> Result<(), UrlRefusal> {
        let unlisted = || addresses.iter().filter(|address| !self.lists(**address));
        if let Some(address) = unlisted().find(|address| !is_public(**address)) {
            return Err(UrlRefusal::AddressNotPublic(*address));
        }
        match departure {
            Some(departure) if unlisted().next().is_some() => Err(departure),
            Some(_) | None => Ok(()),
        }
    }

    /// The departure of a scheme or a port from the rule.
    pub(super) fn departs(&self, scheme: &str, port: u16) -> Option<UrlRefusal> {
        if self.is_lenient {
            None
        } else if scheme != "https" {
            Some(UrlRefusal::Scheme)
        } else {
            (port != 443).then_some(UrlRefusal::Port)
        }
    }

    fn lists(&self, address: IpAddr) -> bool {
        self.listed.iter().any(|network| network.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::EndpointPolicy;
    use crate::dispatcher::UrlRefusal;

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_sandbox_may_send_to_this_machine_but_not_to_its_neighbours() {
        let policy = EndpointPolicy::sandbox();
        for allowed in ["127.0.0.1", "127.1.2.3", "::1", "1.1.1.1"] {
            assert!(policy.allows_address(allowed.parse().unwrap()), "{allowed}");
        }
        for refused in [
            "10.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "::",
            "::ffff:127.0.0.1",
        ] {
            assert!(
                !policy.allows_address(refused.parse().unwrap()),
                "{refused}"
            );
        }
    }

    #[test]
    fn production_sends_to_no_loopback_address() {
        let policy = EndpointPolicy::public();
        assert!(!policy.allows_address("127.0.0.1".parse().unwrap()));
        assert!(!policy.allows_address("::1".parse().unwrap()));
    }

    #[test]
    fn an_exception_needs_every_address_to_be_in_an_allowed_network() {
        let policy = EndpointPolicy::public_and(vec!["10.1.0.0/16".parse().unwrap()]);
        let plain = policy.departs("http", 80);
        assert_eq!(plain, Some(UrlRefusal::Scheme));
        assert_eq!(policy.departs("https", 8443), Some(UrlRefusal::Port));
        assert_eq!(policy.departs("https", 443), None);
        let validate = |texts: &[&str], departure| policy.validate(&addresses(texts), departure);
        let departs = Err(UrlRefusal::Scheme);
        let not_public = |text: &str| Err(UrlRefusal::AddressNotPublic(text.parse().unwrap()));
        assert_eq!(validate(&["10.1.2.3", "10.1.2.4"], plain), Ok(()));
        assert_eq!(validate(&["10.1.2.3", "1.1.1.1"], plain), departs);
        assert_eq!(validate(&["1.1.1.1"], plain), departs);
        assert_eq!(validate(&["10.1.2.3", "1.1.1.1"], None), Ok(()));
        assert_eq!(
            validate(&["1.1.1.1", "10.2.0.1"], None),
            not_public("10.2.0.1")
        );
        assert_eq!(validate(&["10.2.0.1"], plain), not_public("10.2.0.1"));
    }
}
