//! The syntax of an endpoint's URL, checked before any look-up (contract, "Endpoint registration
//! rules").
//!
//! URLs that two parsers could read differently are refused. URL parsers repair many defects, so
//! the raw text is checked here first, and only an accepted text is given to the parser whose
//! result is used for sending.

use url::{Position, Url};

use super::UrlRefusal;
use super::host::{Host, read_host};
use super::policy::EndpointPolicy;

/// Maximum length of a URL, as typed and as stored.
const MAX_URL_BYTES: usize = 2_048;

/// A URL whose text is allowed; the addresses of its name are not checked yet.
///
/// Its host is lower-case, in A-labels and without trailing dot, or a canonical address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointUrl {
    url: Url,
    host: Host,
    port: u16,
    departure: Option<UrlRefusal>,
}

impl EndpointUrl {
    /// The URL in its stored form.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// The receiver's name or address.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Scheme, host and port: the key of a connection.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.url[..Position::BeforePath]
    }

    /// The receiver's port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The departure from the contract's rule, which is allowed within listed networks only: the
    /// addresses of the name are still to be checked.
    pub(super) const fn departure(&self) -> Option<UrlRefusal> {
        self.departure
    }
}

/// Parses and validates a URL.
///
/// Names are not looked up here: their addresses are checked separately, whenever they are
/// resolved.
///
/// ```
/// use preauth_server::dispatcher::{EndpointPolicy, UrlRefusal, validate_url};
///
/// let endpoint = validate_url("https://hooks.example.com:443/preauth", &EndpointPolicy::public())?;
/// assert_eq!(endpoint.url().as_str(), "https://hooks.example.com/preauth");
/// let refused = validate_url("https://127.0.0.1/", &EndpointPolicy::public());
/// assert!(matches!(refused, Err(UrlRefusal::AddressNotPublic(_))));
/// # Ok::<(), UrlRefusal>(())
/// ```
pub fn validate_url(text: &str, policy: &EndpointPolicy) -> Result<EndpointUrl, UrlRefusal> {
    validate_characters(text)?;
    let (scheme, rest) = split_scheme(text)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(UrlRefusal::UserInfo);
    }
    if authority.contains('%') {
        return Err(UrlRefusal::PercentInHost);
    }
    if text.contains('#') {
        return Err(UrlRefusal::Fragment);
    }
    let (host_text, port_text) = split_port(authority);
    if host_text.is_empty() {
        return Err(UrlRefusal::Host);
    }
    let port = read_port(port_text, scheme)?;
    let host = read_host(host_text)?;
    let departure = policy.departs(scheme, port).or_else(|| host.departs());
    check_early(&host, departure, policy)?;
    let url = url_with(text, &host).ok_or(UrlRefusal::Host)?;
    // The stored form is checked again before each attempt; escaped, it may be three times as long.
    if url.as_str().len() > MAX_URL_BYTES {
        return Err(UrlRefusal::TooLong);
    }
    // The parser must agree on the parts that were checked.
    if url.scheme() != scheme || url.port_or_known_default() != Some(port) {
        return Err(UrlRefusal::Host);
    }
    Ok(EndpointUrl {
        url,
        host,
        port,
        departure,
    })
}

/// Checks what needs no look-up: an address, and a name that can never be allowed.
fn check_early(
    host: &Host,
    departure: Option<UrlRefusal>,
    policy: &EndpointPolicy,
) -> Result<(), UrlRefusal> {
    match (host, departure) {
        (Host::Address(address), departure) => policy.validate(&[*address], departure),
        (Host::Name(_), Some(departure)) if policy.listed().is_empty() => Err(departure),
        (Host::Name(_), _) => Ok(()),
    }
}

fn validate_characters(text: &str) -> Result<(), UrlRefusal> {
    if text.is_empty() {
        return Err(UrlRefusal::Empty);
    }
    if text.len() > MAX_URL_BYTES {
        return Err(UrlRefusal::TooLong);
    }
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(UrlRefusal::Character);
    }
    Ok(())
}

/// The scheme, and the text after its two slashes as typed.
fn split_scheme(text: &str) -> Result<(&'static str, &str), UrlRefusal> {
    let (typed, rest) = text.split_once("://").ok_or(UrlRefusal::Scheme)?;
    if typed.eq_ignore_ascii_case("https") {
        Ok(("https", rest))
    } else if typed.eq_ignore_ascii_case("http") {
        Ok(("http", rest))
    } else {
        Err(UrlRefusal::Scheme)
    }
}

/// Host and port; the colons within brackets belong to the address.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    let after_brackets = authority.rfind(']').unwrap_or(0);
    match authority.rsplit_once(':') {
        Some((host, port)) if host.len() >= after_brackets => (host, Some(port)),
        Some(_) | None => (authority, None),
    }
}

fn read_port(typed: Option<&str>, scheme: &str) -> Result<u16, UrlRefusal> {
    let Some(typed) = typed else {
        let default = if scheme == "https" { 443 } else { 80 };
        return Ok(default);
    };
    // Plain digits only: not empty, no sign, no leading zeros.
    let port: u16 = typed.parse().map_err(|_| UrlRefusal::Port)?;
    if port == 0 || port.to_string() != typed {
        return Err(UrlRefusal::Port);
    }
    Ok(port)
}

/// The parser's result for `text`, with the checked host in place of the typed one.
fn url_with(text: &str, host: &Host) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    match host {
        Host::Name(name) => url.set_host(Some(name)).ok()?,
        Host::Address(address) => url.set_ip_host(*address).ok()?,
    }
    let is_clean = url.username().is_empty() && url.password().is_none();
    is_clean.then_some(url)
}

#[cfg(test)]
mod tests {
    use super::{MAX_URL_BYTES, validate_url};
    use crate::dispatcher::{EndpointPolicy, Host, UrlRefusal};

    fn refusal(url: &str) -> UrlRefusal {
        validate_url(url, &EndpointPolicy::public()).unwrap_err()
    }

    fn accepted(url: &str, policy: &EndpointPolicy) -> String {
        let endpoint = validate_url(url, policy);
        endpoint.map_or_else(
            |refusal| format!("{url}: {refusal}"),
            |it| it.url().to_string(),
        )
    }

    /// The policy accepts these URLs unchanged, and refuses the others for their reasons.
    fn assert_decided(policy: &EndpointPolicy, urls: &[&str], refused: &[(&str, UrlRefusal)]) {
        for url in urls {
            assert_eq!(accepted(url, policy), *url);
        }
        for (url, expected) in refused {
            assert_eq!(validate_url(url, policy), Err(*expected), "{url}");
        }
    }

    // Contract: endpoint/HTTPS endpoint/public-address endpoint/credentials
    #[test]
    fn every_url_of_the_vectors_is_validated_as_listed() {
        let vectors = include_str!("../../tests/vectors/ssrf_urls.csv");
        let mut validated = 0;
        for line in vectors.lines().skip(1) {
            let [url, addresses, expected] = line.split(',').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let is_accepted = validate_url(url, &EndpointPolicy::public()).is_ok();
            // The addresses of a name are checked elsewhere.
            let is_expected = expected == "accept" || !addresses.is_empty();
            assert_eq!(is_accepted, is_expected, "{line}");
            validated += 1;
        }
        assert_eq!(validated, 88);
    }

    #[test]
    fn a_url_is_kept_in_one_form() {
        let cases = [
            ("https://hooks.example.com", "https://hooks.example.com/"),
            (
                "HTTPS://Hooks.Example.COM/P?a=B",
                "https://hooks.example.com/P?a=B",
            ),
            (
                "https://hooks.example.com.:443/x",
                "https://hooks.example.com/x",
            ),
            (
                "https://bücher.example.com/",
                "https://xn--bcher-kva.example.com/",
            ),
            (
                "https://hooks.example.com/ação",
                "https://hooks.example.com/a%C3%A7%C3%A3o",
            ),
            (
                "https://[2606:4700:4700::1111]:443/",
                "https://[2606:4700:4700::1111]/",
            ),
            ("https://8.8.8.8/hook?x=%20", "https://8.8.8.8/hook?x=%20"),
            (
                "https://hooks.example.com/a:b@c%2F",
                "https://hooks.example.com/a:b@c%2F",
            ),
        ];
        for (typed, kept) in cases {
            assert_eq!(accepted(typed, &EndpointPolicy::public()), kept);
        }
    }

    #[test]
    fn a_kept_url_is_accepted_again_and_stays_as_it_is() {
        for typed in [
            "https://bücher.example.com./x",
            "https://[2606:4700:4700:0::1111]/",
        ] {
            let Ok(kept) = validate_url(typed, &EndpointPolicy::public()) else {
                continue;
            };
            let again = validate_url(kept.url().as_str(), &EndpointPolicy::public());
            assert_eq!(again, Ok(kept));
        }
    }

    #[test]
    fn a_refusal_names_the_defect() {
        let long = format!("https://hooks.example.com/{}", "a".repeat(MAX_URL_BYTES));
        let long_when_escaped = format!("https://hooks.example.com/{}", "ç".repeat(500));
        let cases = [
            ("", UrlRefusal::Empty),
            (&long, UrlRefusal::TooLong),
            (&long_when_escaped, UrlRefusal::TooLong),
            ("https://hooks.example.com/\u{0}", UrlRefusal::Character),
            ("https://hooks.example.com/\u{a0}", UrlRefusal::Character),
            (
                "https://hooks.example.com\\@evil.example.net/",
                UrlRefusal::Character,
            ),
            ("http://hooks.example.com/", UrlRefusal::Scheme),
            ("//hooks.example.com/", UrlRefusal::Scheme),
            (" https://hooks.example.com/", UrlRefusal::Character),
            ("https:hooks.example.com", UrlRefusal::Scheme),
            ("https://user:pass@hooks.example.com/", UrlRefusal::UserInfo),
            ("https://hooks%2eexample.com/", UrlRefusal::PercentInHost),
            ("https://hooks.example.com:/", UrlRefusal::Port),
            ("https://hooks.example.com:80/", UrlRefusal::Port),
            ("https://hooks.example.com:0443/", UrlRefusal::Port),
            ("https://hooks.example.com:+443/", UrlRefusal::Port),
            ("https://hooks.example.com:65979/", UrlRefusal::Port),
            ("https://hooks.example.com/#", UrlRefusal::Fragment),
            ("https:///hooks.example.com", UrlRefusal::Host),
            ("https://:443/", UrlRefusal::Host),
            ("https://[::1/", UrlRefusal::Host),
            ("https://[]/", UrlRefusal::AddressForm),
            ("https://[1.1.1.1]/", UrlRefusal::AddressForm),
            ("https://hooks:443:443/", UrlRefusal::Host),
        ];
        for (url, expected) in cases {
            assert_eq!(refusal(url), expected, "{url}");
        }
    }

    #[test]
    fn the_sandbox_takes_plain_http_any_port_and_this_machine() {
        let policy = EndpointPolicy::sandbox();
        let urls = [
            "http://localhost:8080/hook",
            "http://hooks.localhost/",
            "http://127.0.0.1:1/",
            "http://[::1]:65535/",
            "https://hooks.example.com:8443/",
            "https://hooks.example.com/",
        ];
        let refused = [
            ("http://localhost:0/", UrlRefusal::Port),
            ("ftp://localhost/", UrlRefusal::Scheme),
            (
                "http://10.0.0.1/",
                UrlRefusal::AddressNotPublic("10.0.0.1".parse().unwrap()),
            ),
            ("http://user@localhost/", UrlRefusal::UserInfo),
            ("http://127.1/", UrlRefusal::AddressForm),
        ];
        assert_decided(&policy, &urls, &refused);
    }

    #[test]
    fn a_listed_network_is_reached_by_any_name_over_plain_http_and_on_any_port() {
        let policy = EndpointPolicy::public_and(vec!["10.1.0.0/16".parse().unwrap()]);
        let urls = [
            "http://10.1.2.3:8080/hook",
            "https://10.1.2.3/",
            // The addresses of these names are checked whenever they are resolved.
            "http://receiver/",
            "http://erp.internal:8080/",
            "https://hooks.example.com:8443/",
        ];
        let loopback = UrlRefusal::AddressNotPublic("127.0.0.1".parse().unwrap());
        let refused = [
            ("http://127.0.0.1:8080/", loopback),
            ("https://127.0.0.1/", loopback),
            ("http://1.1.1.1/", UrlRefusal::Scheme),
            ("https://1.1.1.1:8443/", UrlRefusal::Port),
            ("http://10.1.515/", UrlRefusal::AddressForm),
            ("http://user@10.1.2.3/", UrlRefusal::UserInfo),
        ];
        assert_decided(&policy, &urls, &refused);
    }

    #[test]
    fn the_host_is_a_name_or_an_address() {
        let host = |url| {
            validate_url(url, &EndpointPolicy::public())
                .unwrap()
                .host()
                .clone()
        };
        let name = Host::Name("hooks.example.com".to_owned());
        assert_eq!(host("https://HOOKS.example.com./"), name);
        let address = Host::Address("8.8.8.8".parse().unwrap());
        assert_eq!(host("https://8.8.8.8/"), address);
    }
}
