//! The section `portal`: the listener of the supplier's page.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use super::reader::Reader;

/// The listener of the supplier's page, and the address under which suppliers reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portal {
    /// The address of the listener.
    pub listen: SocketAddr,
    /// Its address for suppliers: a scheme, a host and a port.
    pub url: Url,
}

impl Reader<'_> {
    /// `None` without the page, and after a problem.
    pub(super) fn supplier_portal(&mut self) -> Option<Portal> {
        let [has_listener, has_url] =
            ["portal.listen", "portal.url"].map(|key| !self.text(key).is_empty());
        match (has_listener, has_url) {
            (false, false) => return None,
            (true, true) => {}
            _ => {
                self.problem("portal.listen and portal.url are given together");
                return None;
            }
        }
        let listen = self.parse::<SocketAddr>("portal.listen", "an address like 127.0.0.1:8082");
        let url = self.parse::<Url>("portal.url", "a URL like https://ofertas.example.com");
        let (listen, url) = (listen?, url?);
        if let Some(problem) = problem_of(&url) {
            self.problem(problem);
            return None;
        }
        Some(Portal { listen, url })
    }
}

/// Links carry what opens a page, so that nobody on the way may read them.
fn problem_of(url: &Url) -> Option<&'static str> {
    let is_this_machine = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    };
    let is_encrypted = url.scheme() == "https";
    if !(is_encrypted || url.scheme() == "http" && is_this_machine) {
        return Some("portal.url must begin with https://, unless it names this machine");
    }
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none();
    (!is_plain).then_some("portal.url must be a scheme, a host and a port, without a path")
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Layers};

    fn portal(listen: &str, url: &str) -> Result<Option<super::Portal>, String> {
        let mut given = vec![
            ("PREAUTH_PORTAL_LISTEN", listen),
            ("PREAUTH_PORTAL_URL", url),
        ];
        given.retain(|(_, text)| !text.is_empty());
        let layers = Layers::of_environment(&given);
        let config = Config::from_layers(&layers).map_err(|error| error.to_string());
        config.map(|config| config.portal)
    }

    const LISTEN: &str = "127.0.0.1:8082";

    #[test]
    fn there_is_no_page_unless_both_settings_are_given() {
        assert_eq!(portal("", ""), Ok(None));
        for (listen, url) in [(LISTEN, ""), ("", "https://ofertas.example.com")] {
            let error = portal(listen, url).unwrap_err();
            assert!(error.contains("given together"), "{error}");
        }
    }

    #[test]
    fn links_go_encrypted_or_stay_on_this_machine() {
        for right in [
            "https://ofertas.example.com",
            "https://ofertas.example.com:8443/",
            "http://localhost:8082",
            "http://127.0.0.1:8082",
            "http://[::1]:8082",
        ] {
            assert!(portal(LISTEN, right).unwrap().is_some(), "{right}");
        }
        for wrong in [
            "http://ofertas.example.com",
            "http://localhost.example.com",
            "http://10.0.0.1",
            "ftp://ofertas.example.com",
            "https://ofertas.example.com/portal",
            "https://ofertas.example.com/?a=b",
            "https://ofertas.example.com/#a",
            "https://ana@ofertas.example.com",
            "ofertas.example.com",
        ] {
            let error = portal(LISTEN, wrong).unwrap_err();
            assert!(error.contains("portal.url must be"), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_listener_has_an_address_of_its_own() {
        for taken in ["127.0.0.1:8080", "127.0.0.1:8081"] {
            let error = portal(taken, "https://ofertas.example.com").unwrap_err();
            assert!(error.contains("must differ"), "{taken}: {error}");
        }
    }
}
