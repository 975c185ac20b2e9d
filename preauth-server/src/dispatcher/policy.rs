//! Where deliveries may go.

use std::net::IpAddr;

use super::address::is_public;

/// Which targets are allowed (contract, "Endpoint registration rules").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetPolicy {
    /// HTTPS on port 443 of public addresses: the contract's rule.
    Public,
    /// Besides those, plain HTTP, any port, `localhost` and loopback addresses: for the sandbox.
    AllowLocal,
}

impl TargetPolicy {
    /// Whether a socket may be connected to `address`.
    #[must_use]
    pub fn allows_address(&self, address: IpAddr) -> bool {
        match self {
            Self::Public => is_public(address),
            Self::AllowLocal => is_public(address) || address.is_loopback(),
        }
    }

    /// Whether requests may go over plain HTTP.
    #[must_use]
    pub fn allows_plain_http(&self) -> bool {
        match self {
            Self::Public => false,
            Self::AllowLocal => true,
        }
    }

    /// Whether the receiver may listen on `port`.
    #[must_use]
    pub fn allows_port(&self, port: u16) -> bool {
        match self {
            Self::Public => port == 443,
            Self::AllowLocal => port != 0,
        }
    }

    /// Whether this machine's own name is a name to send to.
    #[must_use]
    pub fn allows_localhost(&self) -> bool {
        match self {
            Self::Public => false,
            Self::AllowLocal => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TargetPolicy;

    #[test]
    fn the_sandbox_may_send_to_this_machine_but_not_to_its_neighbours() {
        let policy = TargetPolicy::AllowLocal;
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
        assert!(!TargetPolicy::Public.allows_address("127.0.0.1".parse().unwrap()));
        assert!(!TargetPolicy::Public.allows_address("::1".parse().unwrap()));
    }
}
