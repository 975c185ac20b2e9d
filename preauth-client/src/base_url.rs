//! The base address of the service.

use std::net::IpAddr;

use preauth_core::wire::path;
use reqwest::Url;

use crate::ConfigError;

/// Where a base address without TLS may lead. The key is sent with every request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlainHttp {
    ToThisMachine,
    /// Through a proxy, `localhost` is the proxy's.
    Nowhere,
    /// The caller allows it.
    Anywhere,
}

/// A validated base address, to which the paths of the API are appended.
#[derive(Clone, Debug)]
pub(crate) struct BaseUrl {
    url: Url,
    /// The path of the base address, without a trailing slash.
    prefix: String,
    /// The address of all operations, parsed once.
    collection: Url,
}

impl BaseUrl {
    /// Validates an address.
    ///
    /// A trailing path of the API is dropped, because every call appends its own. The contract shows the
    /// address with that path; without this, such an address would answer 404 to every call.
    pub(crate) fn parse(text: &str, plain_http: PlainHttp) -> Result<Self, ConfigError> {
        // The parser would repair `https:host` and `https:\\host`. Refuse them: the intent is unclear.
        let is_secure = text.starts_with("https://");
        if !is_secure && !text.starts_with("http://") {
            return Err(ConfigError::BaseUrlScheme);
        }
        let mut url = Url::parse(text).map_err(|error| ConfigError::BaseUrl(Box::new(error)))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ConfigError::BaseUrlCredentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(ConfigError::BaseUrlTail);
        }
        let is_private = match plain_http {
            PlainHttp::ToThisMachine => is_this_machine(&url),
            PlainHttp::Nowhere => false,
            PlainHttp::Anywhere => true,
        };
        if !is_secure && !is_private {
            return Err(ConfigError::BaseUrlInsecure);
        }
        let given = url.path().trim_end_matches('/');
        let own = given.strip_suffix(path::PREFIX).unwrap_or(given);
        let prefix = own.trim_end_matches('/').to_owned();
        url.set_path(&prefix);
        let mut collection = url.clone();
        collection.set_path(&format!("{prefix}{}", path::PRE_AUTHORIZATIONS));
        Ok(Self {
            url,
            prefix,
            collection,
        })
    }

    /// Whether TLS is used.
    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The address of all operations.
    pub(crate) fn collection(&self) -> Url {
        self.collection.clone()
    }

    /// The address of a path of the API.
    pub(crate) fn join(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        if self.prefix.is_empty() {
            url.set_path(path);
        } else {
            url.set_path(&format!("{}{path}", self.prefix));
        }
        url
    }

    /// The address as it was parsed, for `Debug`.
    pub(crate) fn as_str(&self) -> &str {
        self.url.as_str()
    }
}

fn is_this_machine(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    literal
        .parse::<IpAddr>()
        .map_or(host == "localhost", |address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(base: &str) -> String {
        BaseUrl::parse(base, PlainHttp::ToThisMachine)
            .unwrap()
            .join("/api/x")
            .to_string()
    }

    #[test]
    fn paths_are_appended_to_the_base_with_or_without_a_path_of_its_own() {
        assert_eq!(
            join("https://api.example.com"),
            "https://api.example.com/api/x"
        );
        assert_eq!(
            join("https://api.example.com/"),
            "https://api.example.com/api/x"
        );
        assert_eq!(
            join("https://example.com/v/preauth/"),
            "https://example.com/v/preauth/api/x"
        );
        assert_eq!(join("http://127.0.0.1:8080"), "http://127.0.0.1:8080/api/x");
    }

    #[test]
    fn the_path_of_the_api_at_the_end_of_the_base_is_taken_once() {
        for base in [
            "https://example.com/api/integration/v1",
            "https://example.com/api/integration/v1/",
            "https://example.com//api/integration/v1//",
        ] {
            assert_eq!(join(base), "https://example.com/api/x", "{base}");
        }
        assert_eq!(
            join("https://example.com/gateway/api/integration/v1/"),
            "https://example.com/gateway/api/x"
        );
        let understood = BaseUrl::parse(
            "https://example.com/gateway/api/integration/v1",
            PlainHttp::ToThisMachine,
        )
        .unwrap();
        assert_eq!(understood.as_str(), "https://example.com/gateway");
    }

    #[test]
    fn a_path_that_only_resembles_the_one_of_the_api_is_kept() {
        for path in [
            "api/integration/v2",
            "api/integration/v1/x",
            "my-api/integration/v1",
            "API/integration/v1",
        ] {
            assert_eq!(
                join(&format!("https://example.com/{path}")),
                format!("https://example.com/{path}/api/x")
            );
        }
    }

    #[test]
    fn plain_http_is_for_this_machine_unless_the_caller_insists() {
        for local in ["http://localhost:1", "http://127.9.9.9", "http://[::1]:80"] {
            assert!(
                BaseUrl::parse(local, PlainHttp::ToThisMachine).is_ok(),
                "{local}"
            );
            let through_proxy = BaseUrl::parse(local, PlainHttp::Nowhere);
            assert!(
                matches!(through_proxy, Err(ConfigError::BaseUrlInsecure)),
                "{local}"
            );
        }
        for remote in [
            "http://example.com",
            "http://10.0.0.1",
            "http://localhost.example.com",
        ] {
            let parsed = BaseUrl::parse(remote, PlainHttp::ToThisMachine);
            assert!(
                matches!(parsed, Err(ConfigError::BaseUrlInsecure)),
                "{remote}"
            );
            assert!(
                BaseUrl::parse(remote, PlainHttp::Anywhere).is_ok(),
                "{remote}"
            );
        }
    }

    #[test]
    fn an_address_with_anything_but_host_and_path_is_refused() {
        let error = |text| BaseUrl::parse(text, PlainHttp::Anywhere).unwrap_err();
        assert!(matches!(
            error("api.example.com"),
            ConfigError::BaseUrlScheme
        ));
        assert!(matches!(
            error("https:example.com"),
            ConfigError::BaseUrlScheme
        ));
        assert!(matches!(
            error("ftp://example.com"),
            ConfigError::BaseUrlScheme
        ));
        assert!(matches!(error("https://"), ConfigError::BaseUrl(_)));
        assert!(matches!(
            error("https://u:p@example.com"),
            ConfigError::BaseUrlCredentials
        ));
        assert!(matches!(
            error("https://example.com?a=b"),
            ConfigError::BaseUrlTail
        ));
        assert!(matches!(
            error("https://example.com/#a"),
            ConfigError::BaseUrlTail
        ));
    }
}
