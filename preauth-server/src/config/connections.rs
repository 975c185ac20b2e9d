//! The `connections.*` settings and `trusted_proxies`: the connection limits of listeners, and how
//! their clients are determined.

use crate::http::Networks;
use crate::http::server::ConnectionLimits;

use super::reader::Reader;
use super::webhooks::networks;

/// Maximum of `connections.max`; more than a process can have file descriptors.
const MAX_CONNECTIONS: u32 = 1_000_000;

impl Reader<'_> {
    pub(super) fn connections(&mut self) -> Option<ConnectionLimits> {
        let all = self.whole("connections.max", MAX_CONNECTIONS);
        let per_client = self.whole("connections.max_per_client", MAX_CONNECTIONS);
        let uncounted = self.networks("connections.uncounted_networks");
        let trusted_proxies = self.networks("trusted_proxies");
        Some(ConnectionLimits {
            max_connections: usize::try_from(all?).ok()?,
            max_per_client: usize::try_from(per_client?).ok()?,
            uncounted,
            trusted_proxies,
        })
    }

    fn networks(&mut self, key: &str) -> Networks {
        let mut problems = Vec::new();
        let read = networks(key, &self.text(key), &mut problems);
        for problem in problems {
            self.problem(&problem);
        }
        Networks(read)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Layers};
    use crate::http::ClientAddress;

    fn read(variables: &[(&str, &str)]) -> Result<Config, String> {
        Config::from_layers(&Layers::of_environment(variables)).map_err(|error| error.to_string())
    }

    #[test]
    fn loopback_is_not_counted_and_no_proxy_trusted_by_default() {
        let limits = read(&[]).unwrap().connections;
        assert_eq!(
            (limits.max_connections, limits.max_per_client),
            (2_048, 256)
        );
        let address = |text: &str| ClientAddress::new(text.parse().unwrap());
        for loopback in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(limits.uncounted.contain(address(loopback)), "{loopback}");
        }
        assert!(!limits.uncounted.contain(address("10.0.0.1")));
        assert!(limits.trusted_proxies.0.is_empty());
    }

    #[test]
    fn networks_that_are_none_are_problems_of_the_configuration() {
        for (variable, text) in [
            ("PREAUTH_TRUSTED_PROXIES", "10.0.0.1"),
            ("PREAUTH_TRUSTED_PROXIES", "0.0.0.0/0"),
            ("PREAUTH_CONNECTIONS_UNCOUNTED_NETWORKS", "localhost"),
            ("PREAUTH_CONNECTIONS_MAX", "0"),
            ("PREAUTH_CONNECTIONS_MAX_PER_CLIENT", "many"),
        ] {
            assert!(read(&[(variable, text)]).is_err(), "{variable} {text}");
        }
    }
}
