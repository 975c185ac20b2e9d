//! Determines the network address of the client; nothing else in the server does.
//!
//! The peer of the connection is the client, unless it is a trusted proxy: then it is the last
//! address of `X-Forwarded-For` that is not a trusted proxy's. The header is ignored when the peer
//! is not a trusted proxy.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use salvo::http::{HeaderMap, Request};

use crate::dispatcher::Network;

const FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED_PROTO: &str = "x-forwarded-proto";
/// Size of the network that counts as one IPv6 client: a client can use every address of its /64.
const CLIENT_BITS_V6: u32 = 64;

/// The address of a client; an IPv4-mapped IPv6 address is stored as IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

/// The addresses that count as one client: one of IPv4, a /64 of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientGroup(IpAddr);

/// Networks named in the settings; an IPv4-mapped IPv6 address belongs to the IPv4 network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(pub Vec<Network>);

impl ClientAddress {
    /// This address, an IPv4-mapped one as IPv4.
    #[must_use]
    pub const fn new(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }

    /// The client of a request that came over a connection of `peer`.
    #[must_use]
    pub fn of(peer: Self, headers: &HeaderMap, trusted_proxies: &Networks) -> Self {
        let mut client = peer;
        if !trusted_proxies.contain(peer) {
            return client;
        }
        // Each proxy adds the peer of its own connection at the end.
        for value in headers.get_all(FORWARDED_FOR).iter().rev() {
            for hop in value.as_bytes().rsplit(|byte| *byte == b',') {
                // The proxy did not know the hop, or the client forged it; the last known hop is
                // the client.
                let Some(hop) = parse(hop) else {
                    return client;
                };
                client = hop;
                if !trusted_proxies.contain(hop) {
                    return client;
                }
            }
        }
        client
    }

    /// The client of a request, as its connection found it.
    #[must_use]
    pub fn of_request(request: &Request) -> Self {
        let found = request.extensions().get::<Self>().copied();
        found.unwrap_or(Self(IpAddr::V6(Ipv6Addr::UNSPECIFIED)))
    }

    /// The address itself.
    #[must_use]
    pub const fn ip(self) -> IpAddr {
        self.0
    }

    /// The addresses that count as one client with this one.
    #[must_use]
    pub fn group(self) -> ClientGroup {
        ClientGroup(match self.0 {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let host_bits = u128::MAX.checked_shr(CLIENT_BITS_V6).unwrap_or_default();
                IpAddr::V6(Ipv6Addr::from(u128::from(address) & !host_bits))
            }
        })
    }
}

/// Whether a trusted proxy says that a request reached it by TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CameByTls(bool);

impl CameByTls {
    /// For a request that came over a connection of `peer`. Each proxy adds its own word at the end.
    #[must_use]
    pub(super) fn of(peer: ClientAddress, headers: &HeaderMap, trusted_proxies: &Networks) -> Self {
        let last = headers.get_all(FORWARDED_PROTO).iter().next_back();
        let scheme = last.and_then(|value| value.as_bytes().rsplit(|byte| *byte == b',').next());
        let is_https = scheme.is_some_and(|it| it.trim_ascii().eq_ignore_ascii_case(b"https"));
        Self(is_https && trusted_proxies.contain(peer))
    }

    /// As the connection found it.
    #[must_use]
    pub(super) fn of_request(request: &Request) -> bool {
        request.extensions().get::<Self>() == Some(&Self(true))
    }
}

impl Networks {
    /// Whether one of the networks contains `address`.
    #[must_use]
    pub fn contain(&self, address: ClientAddress) -> bool {
        self.0.iter().any(|network| network.contains(address.0))
    }
}

/// An address as a proxy writes it, with a port or without.
fn parse(hop: &[u8]) -> Option<ClientAddress> {
    let text = std::str::from_utf8(hop.trim_ascii()).ok()?;
    let address = text.parse::<IpAddr>().ok();
    let address = address.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    address.map(ClientAddress::new)
}

impl From<SocketAddr> for ClientAddress {
    fn from(address: SocketAddr) -> Self {
        Self::new(address.ip())
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ClientGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(f),
            IpAddr::V6(address) => write!(f, "{address}/{CLIENT_BITS_V6}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use salvo::http::HeaderValue;

    use super::*;

    fn client(peer: &str, trusted: &[&str], headers: &[&str]) -> String {
        let trusted = Networks(trusted.iter().map(|it| it.parse().unwrap()).collect());
        let mut map = HeaderMap::new();
        for header in headers {
            map.append(FORWARDED_FOR, HeaderValue::from_str(header).unwrap());
        }
        map.append("forwarded", HeaderValue::from_static("for=203.0.113.66"));
        map.append("x-real-ip", HeaderValue::from_static("203.0.113.66"));
        let peer = ClientAddress::new(peer.parse().unwrap());
        ClientAddress::of(peer, &map, &trusted).to_string()
    }

    #[test]
    fn the_header_of_others_than_trusted_proxies_is_not_read() {
        let spoofed = ["203.0.113.66"];
        assert_eq!(client("198.51.100.1", &[], &spoofed), "198.51.100.1");
        let trusted = ["10.0.0.0/8"];
        assert_eq!(client("198.51.100.1", &trusted, &spoofed), "198.51.100.1");
        assert_eq!(client("::ffff:198.51.100.1", &[], &[]), "198.51.100.1");
    }

    #[test]
    fn the_last_address_that_is_no_proxy_is_the_client() {
        let trusted = ["10.0.0.0/8", "fd00::/8"];
        for (headers, expected) in [
            (&["198.51.100.7"][..], "198.51.100.7"),
            (&["203.0.113.66, 198.51.100.7"], "198.51.100.7"),
            (&["203.0.113.66", "198.51.100.7"], "198.51.100.7"),
            (&["198.51.100.7, 10.1.1.1 ,\t10.2.2.2"], "198.51.100.7"),
            (
                &["198.51.100.7", "fd00::1, ::ffff:10.2.2.2"],
                "198.51.100.7",
            ),
            (&["198.51.100.7:4711"], "198.51.100.7"),
            (&["::ffff:198.51.100.7"], "198.51.100.7"),
            (&["[2001:db8::7]:4711"], "2001:db8::7"),
            (&["2001:DB8:0::7"], "2001:db8::7"),
            (&["10.9.9.9, 10.1.1.1"], "10.9.9.9"),
        ] {
            assert_eq!(
                client("10.0.0.1", &trusted, headers),
                expected,
                "{headers:?}"
            );
            let mapped = client("::ffff:10.0.0.1", &trusted, headers);
            assert_eq!(mapped, expected, "{headers:?}");
        }
    }

    #[test]
    fn a_hop_that_is_no_address_ends_the_search() {
        let trusted = ["10.0.0.0/8"];
        for (headers, expected) in [
            (&["198.51.100.7, unknown"][..], "10.0.0.1"),
            (&["198.51.100.7, 010.0.0.1"], "10.0.0.1"),
            (&["198.51.100.7, 10.0.0"], "10.0.0.1"),
            (&["198.51.100.7,"], "10.0.0.1"),
            (&["198.51.100.7, \"10.0.0.2\""], "10.0.0.1"),
            (&["198.51.100.7, nonsense, 10.0.0.2"], "10.0.0.2"),
            (&[""], "10.0.0.1"),
            (&[], "10.0.0.1"),
        ] {
            assert_eq!(
                client("10.0.0.1", &trusted, headers),
                expected,
                "{headers:?}"
            );
        }
    }

    #[test]
    fn only_a_trusted_proxy_says_that_a_request_came_by_tls() {
        let trusted = Networks(vec!["10.0.0.0/8".parse().unwrap()]);
        for (peer, proto, expected) in [
            ("10.0.0.1", "https", true),
            ("10.0.0.1", "http, HTTPS", true),
            ("10.0.0.1", "https, http", false),
            ("10.0.0.1", "", false),
            ("198.51.100.1", "https", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(FORWARDED_PROTO, HeaderValue::from_static(proto));
            let peer = ClientAddress::new(peer.parse().unwrap());
            let found = CameByTls::of(peer, &headers, &trusted);
            assert_eq!(found, CameByTls(expected), "{peer} {proto}");
        }
    }

    #[test]
    fn a_client_is_one_address_of_ipv4_and_a_64_of_ipv6() {
        let group = |text: &str| ClientAddress::new(text.parse().unwrap()).group();
        assert_ne!(group("198.51.100.7"), group("198.51.100.8"));
        assert_eq!(group("2001:db8:1:2::1"), group("2001:db8:1:2:ffff::"));
        assert_ne!(group("2001:db8:1:2::1"), group("2001:db8:1:3::1"));
        assert_eq!(group("::ffff:198.51.100.7"), group("198.51.100.7"));
        assert_eq!(group("2001:db8::7").to_string(), "2001:db8::/64");
    }
}
