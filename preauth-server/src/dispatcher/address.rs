//! Which addresses are public: pure functions over the registries of special-purpose addresses.
//!
//! IPv6 is checked against an allow-list, so that blocks allocated in the future are not trusted.
//! This also excludes every IPv4 address embedded in IPv6: mapped, compatible, NAT64, 6to4, Teredo.

use std::net::IpAddr;

use super::network::Network;

/// IPv4 networks in which no webhook receiver can have its address.
const SPECIAL_V4: [Network; 19] = [
    Network::v4([0, 0, 0, 0], 8),        // this network
    Network::v4([10, 0, 0, 0], 8),       // private
    Network::v4([100, 64, 0, 0], 10),    // shared by carriers (CGNAT)
    Network::v4([127, 0, 0, 0], 8),      // loopback
    Network::v4([168, 63, 129, 16], 32), // a cloud's host agent, outside of every registry
    Network::v4([169, 254, 0, 0], 16),   // link-local, cloud metadata
    Network::v4([172, 16, 0, 0], 12),    // private
    Network::v4([192, 0, 0, 0], 24),     // protocol assignments
    Network::v4([192, 0, 2, 0], 24),     // documentation
    Network::v4([192, 31, 196, 0], 24),  // AS112 sink
    Network::v4([192, 52, 193, 0], 24),  // multicast tunnels (AMT)
    Network::v4([192, 88, 99, 0], 24),   // 6to4 relays, deprecated
    Network::v4([192, 168, 0, 0], 16),   // private
    Network::v4([192, 175, 48, 0], 24),  // AS112 sink
    Network::v4([198, 18, 0, 0], 15),    // benchmarking
    Network::v4([198, 51, 100, 0], 24),  // documentation
    Network::v4([203, 0, 113, 0], 24),   // documentation
    Network::v4([224, 0, 0, 0], 4),      // multicast
    Network::v4([240, 0, 0, 0], 4),      // reserved, broadcast
];

/// The only block from which public IPv6 addresses are allocated.
const GLOBAL_UNICAST_V6: Network = Network::v6([0x2000, 0, 0, 0], 3);

/// Networks within that block in which no receiver can have its address.
const SPECIAL_V6: [Network; 5] = [
    Network::v6([0x2001, 0, 0, 0], 23), // protocol assignments: Teredo, ORCHID, benchmarking
    Network::v6([0x2001, 0x0db8, 0, 0], 32), // documentation
    Network::v6([0x2002, 0, 0, 0], 16), // 6to4
    Network::v6([0x3fff, 0, 0, 0], 20), // documentation
    Network::v6([0x2620, 0x004f, 0x8000, 0], 48), // AS112 sink
];

/// Whether `address` is a public internet address.
///
/// ```
/// use preauth_server::dispatcher::is_public;
///
/// assert!(is_public("1.1.1.1".parse()?));
/// assert!(!is_public("169.254.169.254".parse()?));
/// assert!(!is_public("::ffff:1.1.1.1".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    let is_within = |network: &Network| network.contains(address);
    match address {
        IpAddr::V4(_) => !SPECIAL_V4.iter().any(is_within),
        IpAddr::V6(_) => is_within(&GLOBAL_UNICAST_V6) && !SPECIAL_V6.iter().any(is_within),
    }
}

#[cfg(test)]
mod tests {
    use super::is_public;

    fn all_public(addresses: &[&str]) -> Vec<bool> {
        let validated = addresses
            .iter()
            .map(|text| is_public(text.parse().unwrap()));
        validated.collect()
    }

    #[test]
    fn the_edges_of_special_ipv4_networks_are_not_public() {
        let edges = [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.0",
            "169.254.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.255",
            "192.0.2.1",
            "192.31.196.1",
            "192.52.193.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "192.175.48.1",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.0",
            "239.255.255.255",
            "240.0.0.0",
            "255.255.255.255",
        ];
        assert_eq!(all_public(&edges), [false; 30]);
    }

    #[test]
    fn the_neighbours_of_special_ipv4_networks_are_public() {
        let neighbours = [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
        ];
        assert_eq!(all_public(&neighbours), [true; 19]);
    }

    #[test]
    fn only_allocated_ipv6_addresses_are_public() {
        let public = [
            "2606:4700:4700::1111",
            "2001:200::1",
            "2003::1",
            "2620:4f:7fff::1",
            "3ffe:ffff::1",
            "3fff:1000::1",
        ];
        assert_eq!(all_public(&public), [true; 6]);
        let special = [
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:1.1.1.1",
            "::ffff:127.0.0.1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "1fff:ffff::1",
            "2001::1",
            "2001:10::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2620:4f:8000::1",
            "3fff::1",
            "3fff:fff:ffff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        assert_eq!(all_public(&special), [false; 23]);
    }
}
