//! A network: its first address and the number of leading bits.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

/// A network of either family. An IPv4-mapped IPv6 address is in no IPv4 network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    bits: u32,
}

/// Why a text is not a network that may be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// Not an address, a slash and a number of bits.
    #[error("must be an address, a slash and a number of bits, like 10.1.0.0/16")]
    Form,
    /// More bits than an address has.
    #[error("has more bits than an address of its family")]
    Bits,
    /// An address within the network, but not its first one.
    #[error("has host bits set; the network of this address is {0}")]
    NotFirst(Network),
    /// A network that is too large to be allowed.
    #[error("is too large; an IPv4 network needs 8 bits or more, an IPv6 network 7")]
    TooLarge,
}

/// Minimum number of bits of an allowed IPv4 network: 10.0.0.0/8 and 127.0.0.0/8 are the largest
/// private ones.
const MIN_BITS_V4: u32 = 8;
/// Minimum number of bits of an allowed IPv6 network: `fc00::/7` holds all unique local addresses.
const MIN_BITS_V6: u32 = 7;

impl Network {
    /// A network defined in the code.
    pub(super) const fn v4(first: [u8; 4], bits: u32) -> Self {
        let [a, b, c, d] = first;
        Self {
            first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
            bits,
        }
    }

    /// A network defined in the code, by the first half of its first address: except for loopback,
    /// none of these is longer than 64 bits.
    pub(super) const fn v6(first: [u16; 4], bits: u32) -> Self {
        let [a, b, c, d] = first;
        Self {
            first: IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)),
            bits,
        }
    }

    /// The network of a single address.
    pub(super) const fn of(address: Ipv6Addr) -> Self {
        Self {
            first: IpAddr::V6(address),
            bits: Ipv6Addr::BITS,
        }
    }

    /// The network of `bits` bits that an address is in, which leaves `free` ones.
    fn around(address: IpAddr, free: u32, bits: u32) -> Self {
        let first = match address {
            IpAddr::V4(it) => {
                let mask = u32::MAX.checked_shl(free).unwrap_or_default();
                IpAddr::V4(Ipv4Addr::from(u32::from(it) & mask))
            }
            IpAddr::V6(it) => {
                let mask = u128::MAX.checked_shl(free).unwrap_or_default();
                IpAddr::V6(Ipv6Addr::from(u128::from(it) & mask))
            }
        };
        Self { first, bits }
    }

    /// Whether `address` is one of its addresses.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let same_bits = match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                (u32::from(first) ^ u32::from(address)).leading_zeros()
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                (u128::from(first) ^ u128::from(address)).leading_zeros()
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
        };
        same_bits >= self.bits
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (first, bits) = text.split_once('/').ok_or(NetworkError::Form)?;
        let first: IpAddr = first.parse().map_err(|_| NetworkError::Form)?;
        let is_plain = (1..=3).contains(&bits.len()) && bits.bytes().all(|it| it.is_ascii_digit());
        let count: u32 = bits.parse().map_err(|_| NetworkError::Form)?;
        if !is_plain {
            return Err(NetworkError::Form);
        }
        let (trailing_zeros, least, most) = match first {
            IpAddr::V4(first) => (
                u32::from(first).trailing_zeros(),
                MIN_BITS_V4,
                Ipv4Addr::BITS,
            ),
            IpAddr::V6(first) => (
                u128::from(first).trailing_zeros(),
                MIN_BITS_V6,
                Ipv6Addr::BITS,
            ),
        };
        let free = most.checked_sub(count).ok_or(NetworkError::Bits)?;
        if count < least {
            return Err(NetworkError::TooLarge);
        }
        if trailing_zeros < free {
            return Err(NetworkError::NotFirst(Self::around(first, free, count)));
        }
        Ok(Self { first, bits: count })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Network, NetworkError};

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_holds_what_shares_its_leading_bits() {
        let cases = [
            ("10.1.0.0/16", "10.1.255.255", true),
            ("10.1.0.0/16", "10.2.0.0", false),
            ("127.0.0.1/32", "127.0.0.1", true),
            ("127.0.0.1/32", "127.0.0.2", false),
            ("fc00::/7", "fdff::1", true),
            ("fc00::/7", "fe80::1", false),
            ("::1/128", "::1", true),
            ("::1/128", "::", false),
        ];
        for (text, address, is_within) in cases {
            let contains = network(text).contains(address.parse().unwrap());
            assert_eq!(contains, is_within, "{address} in {text}");
        }
    }

    #[test]
    fn an_ipv4_address_in_ipv6_is_in_no_ipv4_network() {
        let loopback = network("127.0.0.0/8");
        assert!(!loopback.contains("::ffff:127.0.0.1".parse().unwrap()));
        assert!(!network("::1/128").contains("0.0.0.1".parse().unwrap()));
    }

    #[test]
    fn a_network_is_written_in_one_way() {
        for text in ["10.0.0.0/8", "192.168.1.7/32", "fd00::/8", "2001:db8::/32"] {
            assert_eq!(network(text).to_string(), text);
        }
        let refused = [
            ("10.0.0.0", NetworkError::Form),
            ("10.0.0/8", NetworkError::Form),
            ("10.0.0.0/", NetworkError::Form),
            ("10.0.0.0/+8", NetworkError::Form),
            ("10.0.0.0/0008", NetworkError::Form),
            ("erp.example.com/32", NetworkError::Form),
            ("10.0.0.0/33", NetworkError::Bits),
            ("fd00::/129", NetworkError::Bits),
            ("10.0.0.1/8", NetworkError::NotFirst(network("10.0.0.0/8"))),
            ("fd00::1/64", NetworkError::NotFirst(network("fd00::/64"))),
            ("0.0.0.0/0", NetworkError::TooLarge),
            ("::/0", NetworkError::TooLarge),
            ("8.0.0.0/7", NetworkError::TooLarge),
        ];
        for (text, error) in refused {
            assert_eq!(text.parse::<Network>(), Err(error), "{text}");
        }
    }
}
