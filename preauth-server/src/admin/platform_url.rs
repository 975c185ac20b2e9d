//! The address of a platform API, validated.

use url::{Host, Url};

use super::words;
use crate::http::platform::PREFIX;
use crate::language::Language;

/// An address to which the operator token may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlatformUrl(Url);

/// Why a text is not such an address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlatformUrlError {
    /// Not `http://` or `https://` and a host.
    Form,
    /// It has a user, a password, a query or a fragment.
    Extras,
    /// The token would be sent unencrypted.
    PlainHttp {
        /// The host that is not this machine.
        host: String,
    },
}

impl PlatformUrlError {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::Form => words::URL_FORM.of(language).to_owned(),
            Self::Extras => words::URL_EXTRAS.of(language).to_owned(),
            Self::PlainHttp { host } => words::plain_http(language, host),
        }
    }
}

impl PlatformUrl {
    /// Parses an address, with or without the API's path at its end.
    pub(super) fn parse(text: &str, insecure_http: bool) -> Result<Self, PlatformUrlError> {
        if !text.starts_with("http://") && !text.starts_with("https://") {
            return Err(PlatformUrlError::Form);
        }
        let mut url = Url::parse(text).map_err(|_| PlatformUrlError::Form)?;
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if has_credentials || url.query().is_some() || url.fragment().is_some() {
            return Err(PlatformUrlError::Extras);
        }
        let is_local = match url.host().ok_or(PlatformUrlError::Form)? {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        if url.scheme() == "http" && !is_local && !insecure_http {
            return Err(PlatformUrlError::PlainHttp {
                host: url.host_str().unwrap_or_default().to_owned(),
            });
        }
        let base = url.path().trim_end_matches('/');
        let base = base.strip_suffix(PREFIX).unwrap_or(base).to_owned();
        url.set_path(&base);
        Ok(Self(url))
    }

    /// The address of a path under the API's prefix.
    pub(super) fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/');
        let path = format!("{base}{PREFIX}/{path}");
        url.set_path(&path);
        url
    }

    /// The address of a path outside of the API's prefix.
    pub(super) fn beside(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/');
        let path = format!("{base}{path}");
        url.set_path(&path);
        url
    }

    /// Whether the server's certificate proves its name.
    pub(super) fn is_certified(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The value of the `Host` header.
    pub(super) fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        match self.0.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }
}

#[cfg(test)]
mod tests {
    use super::{PlatformUrl, PlatformUrlError};

    #[test]
    fn the_path_of_the_api_is_added_once() {
        for (base, joined) in [
            (
                "http://127.0.0.1:81",
                "http://127.0.0.1:81/api/platform/v1/x",
            ),
            ("http://[::1]:81/", "http://[::1]:81/api/platform/v1/x"),
            (
                "https://p.example/api/platform/v1/",
                "https://p.example/api/platform/v1/x",
            ),
            (
                "https://p.example/inner",
                "https://p.example/inner/api/platform/v1/x",
            ),
        ] {
            let url = PlatformUrl::parse(base, false).unwrap();
            assert_eq!(url.join("x").as_str(), joined, "{base}");
        }
    }

    #[test]
    fn the_token_goes_over_plain_http_to_this_machine_only() {
        let parse = |insecure| PlatformUrl::parse("http://10.0.0.7:8081", insecure);
        let refused = PlatformUrlError::PlainHttp {
            host: "10.0.0.7".to_owned(),
        };
        assert_eq!(parse(false), Err(refused));
        assert!(parse(true).is_ok());
        for local in [
            "http://localhost:1",
            "http://127.9.9.9",
            "https://platform.example",
        ] {
            assert!(PlatformUrl::parse(local, false).is_ok(), "{local}");
        }
        assert!(PlatformUrl::parse("http://localhost.example", false).is_err());
    }

    #[test]
    fn a_url_with_a_missing_or_additional_part_is_refused() {
        let error = |text| PlatformUrl::parse(text, true).unwrap_err();
        for text in ["127.0.0.1:8081", "ftp://host", "http:host", "http://", ""] {
            assert_eq!(error(text), PlatformUrlError::Form, "{text:?}");
        }
        for text in [
            "http://u@host",
            "http://u:p@host",
            "http://host?a",
            "http://host#a",
        ] {
            assert_eq!(error(text), PlatformUrlError::Extras, "{text:?}");
        }
    }
}
