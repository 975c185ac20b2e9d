//! The settings for operators: the sources of operator tokens, and the names of the private
//! listener.

use std::path::PathBuf;

use secrecy::zeroize::Zeroizing;
use url::Host;

use crate::secret::OperatorToken;
use crate::store::DatabaseUrl;

use super::reader::Reader;

/// The source of a server's operator token.
#[derive(Clone, Debug)]
pub enum TokenSource {
    /// The configuration.
    Given(OperatorToken),
    /// A configured file.
    File(PathBuf),
    /// The file in the data folder, created if it does not exist.
    Own,
}

impl Reader<'_> {
    pub(super) fn platform_token(&mut self, database_url: &DatabaseUrl) -> Option<TokenSource> {
        match self.token("platform_token")? {
            Some(source) => Some(source),
            None if database_url.is_postgres() => {
                self.problem(
                    "platform_token or platform_token_file must be given on PostgreSQL, the same to \
                     every instance; without one each instance would make its own",
                );
                None
            }
            None => Some(TokenSource::Own),
        }
    }

    /// The token that will replace the current one, if it is set; `None` after a problem.
    #[expect(clippy::option_option, reason = "a problem is no absence")]
    pub(super) fn next_platform_token(&mut self) -> Option<Option<TokenSource>> {
        self.token("platform_token_next")
    }

    /// The token in a setting, or in the file that another setting names; `None` after a problem.
    #[expect(clippy::option_option, reason = "a problem is no absence")]
    fn token(&mut self, key: &str) -> Option<Option<TokenSource>> {
        let (text, file) = (
            Zeroizing::new(self.text(key)),
            self.text(&format!("{key}_file")),
        );
        let problem = match (text.as_str(), file.as_str()) {
            ("", "") => return Some(None),
            ("", file) => return Some(Some(TokenSource::File(PathBuf::from(file)))),
            (text, "") => match OperatorToken::parse(text) {
                Some(token) => return Some(Some(TokenSource::Given(token))),
                None => format!("{key} needs 16 characters or more"),
            },
            _ => format!("{key} and {key}_file are both given; keep one of them"),
        };
        self.problem(&problem);
        None
    }

    pub(super) fn console_hosts(&mut self) -> Option<Vec<Host>> {
        let listed = self.text("console.hosts");
        let texts = listed.split(',').map(str::trim);
        let texts = texts.filter(|_| !listed.is_empty());
        let parsed = texts.map(|text| Host::parse(text).map_err(|_| text.to_owned()));
        match parsed.collect() {
            Ok(hosts) => Some(hosts),
            Err(wrong) => {
                self.problem(&format!(
                    "console.hosts must list names or addresses without scheme and port, not {wrong:?}"
                ));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TokenSource;
    use crate::config::{Config, ConfigError, Layers};

    const SHARED: (&str, &str) = ("PREAUTH_FILES_SHARED", "true");
    const TOKEN: (&str, &str) = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");

    fn config(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_layers(&Layers::of_environment(pairs))
    }

    #[test]
    fn the_operator_token_has_one_source_and_on_postgres_a_given_one() {
        let source = |pairs: &[(&str, &str)]| config(pairs).map(|config| config.platform_token);
        let file = ("PREAUTH_PLATFORM_TOKEN_FILE", "/run/token");
        let postgres = ("PREAUTH_DATABASE", "postgres://localhost/preauth");
        assert!(matches!(source(&[]), Ok(TokenSource::Own)));
        assert!(matches!(
            source(&[postgres, SHARED, TOKEN]),
            Ok(TokenSource::Given(_))
        ));
        assert!(matches!(
            source(&[postgres, SHARED, file]),
            Ok(TokenSource::File(_))
        ));
        let missing = source(&[postgres, SHARED]).unwrap_err().to_string();
        assert!(missing.contains("must be given on PostgreSQL"), "{missing}");
        let both = source(&[TOKEN, file]).unwrap_err().to_string();
        assert!(both.contains("both given"), "{both}");
    }

    #[test]
    fn a_next_token_is_optional_and_validated_alike() {
        let next = |pairs: &[(&str, &str)]| config(pairs).map(|it| it.next_platform_token);
        assert!(matches!(next(&[]), Ok(None)));
        let given = ("PREAUTH_PLATFORM_TOKEN_NEXT", "fedcba9876543210");
        assert!(matches!(next(&[given]), Ok(Some(TokenSource::Given(_)))));
        let short = next(&[("PREAUTH_PLATFORM_TOKEN_NEXT", "short")]).unwrap_err();
        assert!(short.to_string().contains("platform_token_next needs 16"));
    }

    #[test]
    fn console_hosts_are_names_and_addresses() {
        let hosts = |text| config(&[("PREAUTH_CONSOLE_HOSTS", text)]).map(|it| it.console_hosts);
        assert_eq!(hosts("").unwrap().len(), 0);
        assert_eq!(hosts("Platform.Internal, 10.0.0.7,[::1]").unwrap().len(), 3);
        for wrong in [
            "https://platform.internal",
            "platform.internal:8081",
            "a,,b",
        ] {
            assert!(hosts(wrong).is_err(), "{wrong}");
        }
    }
}
