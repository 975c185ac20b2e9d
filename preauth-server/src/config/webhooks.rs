//! The `webhooks.*` settings: allowed receivers, the resolver of names, and trusted certificates.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use crate::dispatcher::{
    DnsLookup, EndpointPolicy, EndpointValidator, ExtraRoots, Lookup, LookupError, Network,
    SystemLookup,
};
use crate::log::chain;

const ALLOWED_NETWORKS: &str = "webhooks.allowed_networks";

/// The settings of webhooks.
#[derive(Clone, Debug, Default)]
pub struct Webhooks {
    /// Networks that are allowed in addition to public addresses.
    pub allowed_networks: Vec<Network>,
    /// The resolver of receivers' names; by default the operating system's.
    pub resolver: Option<SocketAddr>,
    /// Trusted certificates in addition to the platform's roots.
    pub extra_roots: ExtraRoots,
}

impl Webhooks {
    /// The rules for receivers.
    pub fn endpoint_validator(&self) -> Result<EndpointValidator, LookupError> {
        let policy = EndpointPolicy::public_and(self.allowed_networks.clone());
        Ok(EndpointValidator::new(policy, self.lookup()?))
    }

    /// The resolver of receivers' names.
    pub fn lookup(&self) -> Result<Arc<dyn Lookup>, LookupError> {
        Ok(match self.resolver {
            Some(address) => Arc::new(DnsLookup::new(address)?),
            None => Arc::new(SystemLookup::default()),
        })
    }

    /// Parses the settings, which `text` returns by key, and adds every problem to `problems`.
    pub(super) fn read(text: impl Fn(&str) -> String, problems: &mut Vec<String>) -> Self {
        Self {
            allowed_networks: networks(ALLOWED_NETWORKS, &text(ALLOWED_NETWORKS), problems),
            resolver: resolver(&text("webhooks.resolver"), problems),
            extra_roots: roots(&text("webhooks.extra_roots"), problems),
        }
    }
}

/// The networks in the setting `key`, separated by commas.
pub(super) fn networks(key: &str, listed: &str, problems: &mut Vec<String>) -> Vec<Network> {
    let texts = listed.split(',').map(str::trim);
    let texts = texts.filter(|_| !listed.is_empty());
    let read = |text: &str| match text.parse() {
        Ok(network) => Some(network),
        Err(error) => {
            problems.push(format!("{key}: {text:?} {error}"));
            None
        }
    };
    texts.filter_map(read).collect()
}

fn resolver(address: &str, problems: &mut Vec<String>) -> Option<SocketAddr> {
    if address.is_empty() {
        return None;
    }
    let parsed = address.parse().ok();
    let usable = parsed.filter(|parsed: &SocketAddr| parsed.port() != 0);
    if usable.is_none() {
        problems.push(format!(
            "webhooks.resolver must be an IP address and a port like 10.0.0.53:53, not {address:?}"
        ));
    }
    usable
}

fn roots(path: &str, problems: &mut Vec<String>) -> ExtraRoots {
    if path.is_empty() {
        return ExtraRoots::default();
    }
    ExtraRoots::open(Path::new(path)).unwrap_or_else(|error| {
        let error = chain(&error);
        problems.push(format!("webhooks.extra_roots: {path} {error}"));
        ExtraRoots::default()
    })
}

#[cfg(test)]
mod tests {
    use super::Webhooks;

    fn read(settings: &[(&str, &str)]) -> (Webhooks, Vec<String>) {
        let mut problems = Vec::new();
        let text = |key: &str| {
            let found = settings.iter().find(|(name, _)| *name == key);
            found.map_or_else(String::new, |(_, text)| (*text).to_owned())
        };
        let webhooks = Webhooks::read(text, &mut problems);
        (webhooks, problems)
    }

    #[test]
    fn nothing_needs_to_be_set() {
        let (webhooks, problems) = read(&[]);
        assert_eq!(problems, Vec::<String>::new());
        assert!(webhooks.allowed_networks.is_empty() && webhooks.resolver.is_none());
    }

    #[test]
    fn networks_are_a_list() {
        let listed = ("webhooks.allowed_networks", "10.1.0.0/16, fd00::/8");
        let (webhooks, problems) = read(&[listed]);
        assert_eq!(problems, Vec::<String>::new());
        let shown = webhooks.allowed_networks.iter().map(ToString::to_string);
        assert_eq!(shown.collect::<Vec<_>>(), ["10.1.0.0/16", "fd00::/8"]);
    }

    #[test]
    fn every_problem_of_the_webhook_settings_is_reported() {
        let (_, problems) = read(&[
            (
                "webhooks.allowed_networks",
                "10.1.2.3/16,0.0.0.0/0,,fd00::/8",
            ),
            ("webhooks.resolver", "dns.example.com:53"),
            ("webhooks.extra_roots", "/nowhere/roots.pem"),
        ]);
        assert_eq!(problems.len(), 5, "{problems:?}");
        let (_, problems) = read(&[("webhooks.resolver", "10.0.0.53:0")]);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}
