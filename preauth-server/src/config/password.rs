//! Passwords within URLs.

use url::Url;

/// Whether a URL contains a password.
pub(super) fn is_in(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else {
        return before_at(text).is_some_and(|user| user.contains(':'));
    };
    url.password().is_some() || is_in_query(&url)
}

/// The text without the user and password of a URL.
pub(super) fn hidden_in(text: &str) -> String {
    let shown = match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://(hidden)@{place}"),
        _ => text.to_owned(),
    };
    match shown.split_once('?') {
        Some((place, _)) if Url::parse(text).is_ok_and(|url| is_in_query(&url)) => {
            format!("{place}?(hidden)")
        }
        _ => shown,
    }
}

fn is_in_query(url: &Url) -> bool {
    url.query_pairs().any(|(name, _)| name == "password")
}

fn before_at(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let (user, _) = rest.rsplit_once('@')?;
    Some(user)
}

#[cfg(test)]
mod tests {
    use super::{hidden_in, is_in};

    #[test]
    fn a_password_is_found_wherever_a_url_holds_it() {
        for text in [
            "postgres://ana:geheim@host/preauth",
            "postgres://ana:geheim@host:port/preauth",
            "postgres:///preauth?user=ana&password=geheim",
            "postgres:///preauth?pass%77ord=geheim",
        ] {
            assert!(is_in(text), "{text}");
            assert!(!hidden_in(text).contains("geheim"), "{text}");
        }
        for text in [
            "postgres://ana@host/preauth",
            "sqlite://preauth-data/preauth.db",
            "127.0.0.1:8081",
            "preauth-data",
            "Plataforma <avisos@example.com>",
        ] {
            assert!(!is_in(text), "{text}");
        }
        assert_eq!(hidden_in("preauth-data"), "preauth-data");
    }
}
