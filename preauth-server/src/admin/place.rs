//! Determines the platform and the token: from flags, environment, configuration file, and the data
//! folder of a server that runs on this machine.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::{ConfigError, Layers};
use crate::language::Language;
use crate::log::chain;
use crate::secret::{OperatorToken, TokenFileError};

use super::discovery::{self, DiscoveryError, Server};
use super::platform_url::{PlatformUrl, PlatformUrlError};
use super::words::{self, caused};

/// Where the platform is. Nothing has to be given beside a running `serve` or `sandbox`.
///
/// There is no flag for the token itself: everybody on the machine can read arguments.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Platform (found by itself beside a running server)")]
pub(super) struct PlaceArgs {
    /// Base address of the platform API.
    #[arg(long, global = true, value_name = "URL")]
    pub(super) platform_url: Option<String>,
    /// File that holds the operator token.
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) token_file: Option<String>,
    /// Configuration file of the server; by default that of an installed package,
    /// `/etc/preauth/preauth.toml`, unless `--data` is given.
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Data folder of the server.
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) data: Option<String>,
    /// Speak plain http with another machine, or through a tunnel, too.
    #[arg(long, global = true)]
    pub(super) insecure_http: bool,
}

/// A platform and the token for it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) url: PlatformUrl,
    pub(super) token: OperatorToken,
    /// Where the token was read, for the message when it is refused.
    pub(super) token_source: String,
    /// Whether the server may answer at another address than the requested one.
    pub(super) may_be_elsewhere: bool,
    /// The sandbox that was found where nothing named a server; its name is printed for people.
    pub(super) found_sandbox: Option<Server>,
}

/// Why the platform or its token could not be determined.
#[derive(Debug)]
pub(crate) enum PlaceError {
    /// The configuration file or the environment is invalid.
    Config(ConfigError),
    /// The address is invalid.
    Url {
        /// The address.
        text: String,
        /// Why.
        cause: PlatformUrlError,
    },
    /// No server, or more than one, runs on this machine.
    Discovery(DiscoveryError),
    /// Both a token and a token file are configured.
    TwoTokens,
    /// The configured token is too short.
    ShortToken,
    /// The token file cannot be used.
    TokenFile(TokenFileError),
}

impl PlaceError {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::Config(error) => chain(error),
            Self::Url { text, cause } => {
                let cause = cause.text(language);
                format!("{}: {cause}", words::wrong_url(language, text))
            }
            Self::Discovery(error) => error.text(language),
            Self::TwoTokens => words::TWO_TOKENS.of(language).to_owned(),
            Self::ShortToken => words::SHORT_TOKEN.of(language).to_owned(),
            Self::TokenFile(error) => {
                let error = token_file(error, language);
                format!("{}: {error}", words::NO_TOKEN.of(language))
            }
        }
    }
}

fn token_file(error: &TokenFileError, language: Language) -> String {
    match error {
        TokenFileError::File { path, cause } => {
            let path = path.display().to_string();
            caused(&words::token_file(language, &path), cause)
        }
        TokenFileError::TooShort { path } => {
            words::short_token_file(language, &path.display().to_string())
        }
    }
}

impl From<ConfigError> for PlaceError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<DiscoveryError> for PlaceError {
    fn from(error: DiscoveryError) -> Self {
        Self::Discovery(error)
    }
}

impl PlaceArgs {
    /// File, then environment, then flags.
    fn layers(&self) -> Result<Layers, ConfigError> {
        let mut layers = Layers::beginning_with(self.config.as_deref(), self.data.as_deref());
        layers.environment(std::env::vars());
        layers.flag("platform_url", self.platform_url.clone());
        layers.flag("data", self.data.clone());
        match layers.problems() {
            [] => Ok(layers),
            problems => Err(problems.to_vec().into()),
        }
    }

    /// Determines the platform.
    pub(super) fn find(&self) -> Result<Place, PlaceError> {
        let layers = self.layers()?;
        let file_is_given = self.token_file.is_some() || self.config.is_some();
        let server = discovery::server(&layers, file_is_given)?;
        let url = PlatformUrl::parse(&server.url, self.insecure_http);
        let (token, token_source) = self.token(&layers, &server.data)?;
        Ok(Place {
            url: url.map_err(|cause| PlaceError::Url {
                text: server.url.clone(),
                cause,
            })?,
            token,
            token_source,
            may_be_elsewhere: self.insecure_http,
            found_sandbox: server.is_found_sandbox.then_some(server),
        })
    }

    fn token(&self, layers: &Layers, data: &Path) -> Result<(OperatorToken, String), PlaceError> {
        let (text, file) = (
            layers.of("platform_token"),
            layers.of("platform_token_file").text,
        );
        let path = match (self.token_file.as_deref(), text.text.as_str()) {
            (Some(path), _) => PathBuf::from(path),
            (None, "") if file.is_empty() => OperatorToken::file_in(data),
            (None, "") => PathBuf::from(file),
            (None, _) if !file.is_empty() => return Err(PlaceError::TwoTokens),
            (None, given) => {
                let token = OperatorToken::parse(given).ok_or(PlaceError::ShortToken)?;
                return Ok((token, format!("platform_token ({})", text.source)));
            }
        };
        let token = OperatorToken::open(&path).map_err(PlaceError::TokenFile)?;
        Ok((token, path.display().to_string()))
    }
}
