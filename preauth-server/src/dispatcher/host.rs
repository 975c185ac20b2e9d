//! The host of an endpoint's URL: a public name, or a public address in its one usual form.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::UrlRefusal;
use super::policy::TargetPolicy;

/// Most bytes of a host name, without its trailing dot (RFC 1035).
const MAX_NAME_BYTES: usize = 253;
/// Most bytes of one label (RFC 1035).
const MAX_LABEL_BYTES: usize = 63;

/// Domains that are reserved, or used by custom, for what is not public.
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

/// Where a delivery goes, before any look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name in lower-case A-labels, without trailing dot.
    Name(String),
    /// An address that the policy allows.
    Address(IpAddr),
}

/// Judges a host as typed, brackets included.
pub(super) fn judge_host(typed: &str, policy: &TargetPolicy) -> Result<Host, UrlRefusal> {
    if let Some(inner) = typed.strip_prefix('[') {
        let inner = inner.strip_suffix(']').ok_or(UrlRefusal::Host)?;
        return judge_ipv6(inner, policy);
    }
    if let Ok(address) = typed.parse::<Ipv4Addr>() {
        return judge_address(address.into(), policy);
    }
    match url::Host::parse(typed) {
        // A way to write an address that other parsers read as another one, or as a name.
        Ok(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => Err(UrlRefusal::AddressForm),
        Ok(url::Host::Domain(name)) => judge_name(&name, policy).map(Host::Name),
        Err(_) => Err(UrlRefusal::Host),
    }
}

fn judge_ipv6(inner: &str, policy: &TargetPolicy) -> Result<Host, UrlRefusal> {
    let address: Ipv6Addr = inner.parse().map_err(|_| UrlRefusal::AddressForm)?;
    let host = judge_address(address.into(), policy)?;
    if inner.eq_ignore_ascii_case(&address.to_string()) {
        Ok(host)
    } else {
        Err(UrlRefusal::AddressForm)
    }
}

fn judge_address(address: IpAddr, policy: &TargetPolicy) -> Result<Host, UrlRefusal> {
    if policy.allows_address(address) {
        Ok(Host::Address(address))
    } else {
        Err(UrlRefusal::AddressNotPublic)
    }
}

/// Judges a name that is already in lower-case ASCII.
fn judge_name(name: &str, policy: &TargetPolicy) -> Result<String, UrlRefusal> {
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.len() > MAX_NAME_BYTES || !name.split('.').all(is_label) {
        return Err(UrlRefusal::Host);
    }
    let is_localhost = is_within(name, "localhost");
    if is_localhost && policy.allows_localhost() {
        return Ok(name.to_owned());
    }
    if RESERVED_DOMAINS
        .iter()
        .any(|domain| is_within(name, domain))
    {
        return Err(UrlRefusal::ReservedName);
    }
    let (_, last) = name.rsplit_once('.').ok_or(UrlRefusal::SingleLabel)?;
    // Resolvers read such a name as an address.
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
    use super::{Host, judge_host};
    use crate::dispatcher::{TargetPolicy, UrlRefusal};

    fn judged(typed: &str) -> Result<Host, UrlRefusal> {
        judge_host(typed, &TargetPolicy::Public)
    }

    #[test]
    fn reserved_names_are_refused_with_everything_below_them() {
        for name in [
            "localhost",
            "a.localhost",
            "printer.local",
            "LOCAL",
            "x.home.arpa",
            "a.b.corp",
        ] {
            assert_eq!(judged(name), Err(UrlRefusal::ReservedName), "{name}");
        }
        for name in [
            "example.com",
            "mylocalhost.com",
            "arpa.net",
            "local.example.com",
        ] {
            assert_eq!(judged(name), Ok(Host::Name(name.to_owned())));
        }
    }

    #[test]
    fn labels_have_letters_digits_and_inner_hyphens() {
        let long = format!("{}.example.com", "a".repeat(63));
        for name in ["a.b", "1a.example.com", "a--b.example.com", long.as_str()] {
            assert_eq!(judged(name), Ok(Host::Name(name.to_owned())));
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
            assert_eq!(judged(name), Err(UrlRefusal::Host), "{name}");
        }
    }

    #[test]
    fn addresses_are_taken_in_their_canonical_form_only() {
        for typed in [
            "8.8.8.8",
            "[2606:4700:4700::1111]",
            "[2606:4700:4700::AAAA]",
        ] {
            assert!(matches!(judged(typed), Ok(Host::Address(_))), "{typed}");
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
            assert_eq!(judged(typed), Err(UrlRefusal::AddressForm), "{typed}");
        }
    }
}
