//! The host of an endpoint's URL: a name, or an address in its canonical form.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::UrlRefusal;

/// Maximum length of a host name, without its trailing dot (RFC 1035).
const MAX_NAME_BYTES: usize = 253;
/// Maximum length of one label (RFC 1035).
const MAX_LABEL_BYTES: usize = 63;

/// Domains that are reserved, or customarily used, for names that are not public.
const RESERVED_DOMAINS: [&str; 14] = [
    "localhost",
    "local",
    "internal",
    "test",
    "invalid",
    "example",
    "onion",
    "alt",
    "home.arpa",
    "lan",
    "home",
    "corp",
    "intranet",
    "private",
];

/// The host of a delivery's URL, before any look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name in lower-case A-labels, without trailing dot.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// Reads a host as typed, brackets included. Whether an address is allowed is not checked here.
pub(super) fn read_host(typed: &str) -> Result<Host, UrlRefusal> {
    if let Some(inner) = typed.strip_prefix('[') {
        let inner = inner.strip_suffix(']').ok_or(UrlRefusal::Host)?;
        return read_ipv6(inner);
    }
    if let Ok(address) = typed.parse::<Ipv4Addr>() {
        return Ok(Host::Address(address.into()));
    }
    match url::Host::parse(typed) {
        // Other parsers read this form as another address, or as a name.
        Ok(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => Err(UrlRefusal::AddressForm),
        Ok(url::Host::Domain(name)) => read_name(&name).map(Host::Name),
        Err(_) => Err(UrlRefusal::Host),
    }
}

impl Host {
    /// Why the host is not public by its form alone: a name that only a private network resolves.
    pub(super) fn departs(&self) -> Option<UrlRefusal> {
        let Self::Name(name) = self else {
            return None;
        };
        let is_reserved = |domain: &&str| is_within(name, domain);
        if RESERVED_DOMAINS.iter().any(is_reserved) {
            Some(UrlRefusal::ReservedName)
        } else {
            (!name.contains('.')).then_some(UrlRefusal::SingleLabel)
        }
    }
}

fn read_ipv6(inner: &str) -> Result<Host, UrlRefusal> {
    let address: Ipv6Addr = inner.parse().map_err(|_| UrlRefusal::AddressForm)?;
    if inner.eq_ignore_ascii_case(&address.to_string()) {
        Ok(Host::Address(address.into()))
    } else {
        Err(UrlRefusal::AddressForm)
    }
}

/// Checks a name that is already in lower-case ASCII.
fn read_name(name: &str) -> Result<String, UrlRefusal> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let mut labels = name.split('.');
    if name.len() > MAX_NAME_BYTES || !labels.clone().all(is_label) {
        return Err(UrlRefusal::Host);
    }
    let last = labels.next_back().unwrap_or_default();
    // Resolvers read a name with a numeric last label as an address.
    if last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(UrlRefusal::AddressForm);
    }
    Ok(name.to_owned())
}

fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL_BYTES).contains(&label.len())
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn is_within(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::{Host, read_host};
    use crate::dispatcher::UrlRefusal;

    fn validated(typed: &str) -> Result<Host, UrlRefusal> {
        let host = read_host(typed)?;
        host.departs().map_or(Ok(host), Err)
    }

    #[test]
    fn reserved_names_are_not_public_with_everything_below_them() {
        for name in [
            "localhost",
            "a.localhost",
            "printer.local",
            "LOCAL",
            "x.home.arpa",
            "a.b.corp",
        ] {
            assert_eq!(validated(name), Err(UrlRefusal::ReservedName), "{name}");
        }
        for name in [
            "example.com",
            "mylocalhost.com",
            "arpa.net",
            "local.example.com",
        ] {
            assert_eq!(validated(name), Ok(Host::Name(name.to_owned())));
        }
    }

    #[test]
    fn labels_have_letters_digits_and_inner_hyphens() {
        let long = format!("{}.example.com", "a".repeat(63));
        for name in ["a.b", "1a.example.com", "a--b.example.com", long.as_str()] {
            assert_eq!(validated(name), Ok(Host::Name(name.to_owned())));
        }
        let too_long = format!("{}.com", vec!["a".repeat(62); 4].join("."));
        let names = [
            "a_b.example.com",
            "-a.example.com",
            "a-.example.com",
            "a..b",
            ".a.b",
            ".",
        ];
        for name in names.into_iter().chain([too_long.as_str()]) {
            assert_eq!(validated(name), Err(UrlRefusal::Host), "{name}");
        }
    }

    #[test]
    fn addresses_are_taken_in_their_canonical_form_only() {
        for typed in [
            "8.8.8.8",
            "[2606:4700:4700::1111]",
            "[2606:4700:4700::AAAA]",
        ] {
            assert!(matches!(validated(typed), Ok(Host::Address(_))), "{typed}");
        }
        let odd = [
            "8.8.8.8.",
            "010.8.8.8",
            "0x8.8.8.8",
            "8.8.2056",
            "134744072",
            "[2606:4700:0::1]",
        ];
        for typed in odd {
            assert_eq!(validated(typed), Err(UrlRefusal::AddressForm), "{typed}");
        }
    }
}
