//! The configuration as the rest of the program sees it.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::Policy;

use crate::access::RateLimit;
use crate::hold::DeploymentId;
use crate::invoice_files;
use crate::notices::MailSettings;
use crate::secret::OperatorToken;
use crate::store;

use super::{ConfigError, Layers, Webhooks};

/// Everything that an operator may decide about a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address of the integration API.
    pub listen: SocketAddr,
    /// Address of the platform API and the probes.
    pub platform_listen: SocketAddr,
    /// Folder of the SQLite database and of key files.
    pub data: PathBuf,
    /// Where the database is.
    pub database_url: String,
    /// Where the operator token comes from.
    pub platform_token: TokenSource,
    /// The file of the master key.
    pub master_key_file: PathBuf,
    /// Whether the master key's file was named, or is ours to make.
    pub master_key_is_given: bool,
    /// The deployment's id, if it has one.
    pub deployment: Option<DeploymentId>,
    /// Whether the database is only looked at.
    pub is_quiet: bool,
    /// Whether the operator vouches for the machine's clock.
    pub trusts_clock: bool,
    /// Where invoice files are kept: a folder, or an address of S3-compatible storage.
    pub files_place: String,
    /// Requests per window and key.
    pub rate_limit: RateLimit,
    /// Configurable limits of the rules.
    pub policy: Policy,
    /// How mails are written, and where they go.
    pub mail: MailSettings,
    /// How webhooks are sent.
    pub webhooks: Webhooks,
    /// How the log is written.
    pub log_format: LogFormat,
    /// How long requests under way have to end.
    pub grace: Duration,
}

/// Where a server's operator token comes from.
#[derive(Clone, Debug)]
pub enum TokenSource {
    /// It is configured.
    Given(OperatorToken),
    /// A file that was named holds it.
    File(PathBuf),
    /// The data folder's own file holds it, and is made when it is not there.
    Own,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// For people.
    Text,
}

const GREATEST_DAYS: u32 = 3_650;
const GREATEST_GRACE_SECONDS: u32 = 600;

impl Config {
    /// Understands all settings, or says everything that is wrong with them.
    pub fn from_layers(layers: &Layers) -> Result<Self, ConfigError> {
        let mut reader = Reader {
            layers,
            problems: layers.problems().to_vec(),
        };
        let config = reader.config();
        match config {
            Some(config) if reader.problems.is_empty() => Ok(config),
            _ => Err(reader.problems.into()),
        }
    }

    /// Where the database is, for commands that need nothing else: whoever migrates or audits need
    /// not have the tokens and keys of a server.
    pub fn database_url(layers: &Layers) -> Result<String, ConfigError> {
        let mut reader = Reader {
            layers,
            problems: layers.problems().to_vec(),
        };
        let data = PathBuf::from(reader.text("data"));
        let url = reader.database_url(&data);
        if reader.problems.is_empty() {
            Ok(url)
        } else {
            Err(reader.problems.into())
        }
    }

    /// Where the database is, and how many mails an address gets in a day: what an audit needs.
    pub fn audited(layers: &Layers) -> Result<(String, NonZeroU32), ConfigError> {
        let url = Self::database_url(layers)?;
        let mut reader = Reader {
            layers,
            problems: Vec::new(),
        };
        let share = reader.daily_share();
        share
            .map(|share| (url, share))
            .ok_or_else(|| reader.problems.into())
    }
}

/// What is read, and what is wrong with it.
pub(super) struct Reader<'a> {
    layers: &'a Layers,
    problems: Vec<String>,
}

impl Reader<'_> {
    fn config(&mut self) -> Option<Config> {
        let listen = self.parse::<SocketAddr>("listen", "an address like 127.0.0.1:8080");
        let platform_listen = self.platform_listen();
        let data = PathBuf::from(self.text("data"));
        let database_url = self.database_url(&data);
        let platform_token = self.platform_token(&database_url);
        let master_key_file = self.text("master_key_file");
        let deployment = self.deployment();
        let is_quiet = self.parse::<bool>("quiet_outbound", "true or false");
        let trusts_clock = self.parse::<bool>("trust_clock", "true or false");
        let files_place = self.files_place(&data, &database_url);
        let requests = self.whole("rate_limit.requests", u32::MAX);
        let window_seconds = self.whole("rate_limit.window_seconds", u32::MAX);
        let offer_days = self.whole("rules.offer_lifetime_days", GREATEST_DAYS);
        let retention_days = self.whole("rules.idempotency_retention_days", GREATEST_DAYS);
        let mail = self.mail();
        let layers = self.layers;
        let webhooks = Webhooks::read(|key| layers.of(key).text, &mut self.problems);
        let log_format = self.log_format();
        let grace = self.whole("shutdown.grace_seconds", GREATEST_GRACE_SECONDS);
        if listen.is_some_and(|listen| listen.port() != 0 && Some(listen) == platform_listen) {
            self.problems
                .push("listen and platform_listen must differ".to_owned());
        }
        Some(Config {
            listen: listen?,
            platform_listen: platform_listen?,
            database_url,
            platform_token: platform_token?,
            master_key_is_given: !master_key_file.is_empty(),
            master_key_file: if master_key_file.is_empty() {
                data.join("master.key")
            } else {
                PathBuf::from(master_key_file)
            },
            data,
            deployment,
            is_quiet: is_quiet?,
            trusts_clock: trusts_clock?,
            files_place: files_place?,
            rate_limit: RateLimit {
                requests: requests?,
                window_seconds: window_seconds?,
            },
            policy: Policy {
                offer_lifetime: TimeDelta::days(offer_days?.into()),
                idempotency_retention: TimeDelta::days(retention_days?.into()),
            },
            mail: mail?,
            webhooks,
            log_format: log_format?,
            grace: Duration::from_secs(grace?.into()),
        })
    }

    fn platform_listen(&mut self) -> Option<SocketAddr> {
        let anywhere = self.parse::<bool>("platform_listen_anywhere", "true or false")?;
        let address =
            self.parse::<SocketAddr>("platform_listen", "an address like 127.0.0.1:8081")?;
        if !address.ip().is_loopback() && !anywhere {
            self.problems.push(format!(
                "platform_listen {address} is not a loopback address; set platform_listen_anywhere \
                 = true if the network in front of it is private"
            ));
        }
        Some(address)
    }

    fn database_url(&mut self, data: &Path) -> String {
        let mut url = self.text("database");
        if url.is_empty() {
            url = format!("sqlite://{}", data.join("preauth.db").display());
        }
        if let Err(error) = store::judge_url(&url) {
            self.problems.push(error.to_string());
        }
        url
    }

    fn platform_token(&mut self, database_url: &str) -> Option<TokenSource> {
        let (text, file) = (
            self.text("platform_token"),
            self.text("platform_token_file"),
        );
        let problem = match (text.as_str(), file.as_str()) {
            ("", "") if store::is_postgres(database_url) => {
                "platform_token or platform_token_file must be given on PostgreSQL, the same to \
                 every instance; without one each instance would make its own"
            }
            ("", "") => return Some(TokenSource::Own),
            ("", file) => return Some(TokenSource::File(PathBuf::from(file))),
            (text, "") => match OperatorToken::parse(text) {
                Some(token) => return Some(TokenSource::Given(token)),
                None => "platform_token needs 16 characters or more",
            },
            _ => "platform_token and platform_token_file are both given; keep one of them",
        };
        self.problems.push(problem.to_owned());
        None
    }

    fn files_place(&mut self, data: &Path, database_url: &str) -> Option<String> {
        let is_shared = self.parse::<bool>("files.shared", "true or false")?;
        let given = self.text("files.place");
        if store::is_postgres(database_url) && !invoice_files::is_s3(&given) && !is_shared {
            self.problems.push(
                "files.shared must be true on PostgreSQL, where every instance must reach the \
                 folder of the invoice files; or files.place must be s3://BUCKET/PREFIX"
                    .to_owned(),
            );
            return None;
        }
        if given.is_empty() {
            return Some(data.join("invoice-files").display().to_string());
        }
        Some(given)
    }

    fn log_format(&mut self) -> Option<LogFormat> {
        match self.text("log.format").as_str() {
            "json" => Some(LogFormat::Json),
            "text" => Some(LogFormat::Text),
            other => {
                self.problems
                    .push(format!("log.format must be json or text, not {other}"));
                None
            }
        }
    }

    pub(super) fn whole(&mut self, key: &str, greatest: u32) -> Option<u32> {
        let number = self.parse::<u32>(key, "a whole number")?;
        if (1..=greatest).contains(&number) {
            return Some(number);
        }
        self.problems
            .push(format!("{key} must be from 1 to {greatest}"));
        None
    }

    pub(super) fn parse<T: FromStr>(&mut self, key: &str, form: &str) -> Option<T> {
        let text = self.text(key);
        let parsed = text.parse().ok();
        if parsed.is_none() {
            self.problems
                .push(format!("{key} must be {form}, not {text:?}"));
        }
        parsed
    }

    pub(super) fn problem(&mut self, problem: &str) {
        self.problems.push(problem.to_owned());
    }

    pub(super) fn text(&self, key: &str) -> String {
        self.layers.of(key).text
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, Layers, TokenSource};
    use crate::config::{SETTINGS, Source};

    const SHARED: (&str, &str) = ("PREAUTH_FILES_SHARED", "true");
    const TOKEN: (&str, &str) = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");

    fn environment(pairs: &[(&str, &str)]) -> Layers {
        let mut layers = Layers::default();
        let owned = pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        layers.environment(owned);
        layers
    }

    #[test]
    fn the_defaults_are_usable() {
        let config = Config::from_layers(&Layers::default()).unwrap();
        assert_eq!(config.database_url, "sqlite://preauth-data/preauth.db");
        assert_eq!(config.rate_limit.requests, 120);
    }

    #[test]
    fn whoever_needs_only_the_database_need_not_give_a_token() {
        let url = "postgres://preauth@db.example.com/preauth";
        let layers = environment(&[("PREAUTH_DATABASE", url)]);
        assert!(Config::from_layers(&layers).is_err());
        assert_eq!(Config::database_url(&layers).unwrap(), url);
        let layers = environment(&[("PREAUTH_DATABASE", "mysql://db")]);
        assert!(Config::database_url(&layers).is_err());
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("preauth.toml");
        std::fs::write(
            &path,
            "listen = \"127.0.0.1:1\"\n[rate_limit]\nrequests = 7\n",
        )
        .unwrap();
        let mut layers = Layers::default();
        layers.file(&path);
        let config = Config::from_layers(&layers).unwrap();
        assert_eq!((config.listen.port(), config.rate_limit.requests), (1, 7));
        layers.environment([("PREAUTH_LISTEN".to_owned(), "127.0.0.1:2".to_owned())].into_iter());
        assert_eq!(Config::from_layers(&layers).unwrap().listen.port(), 2);
        layers.flag("listen", Some("127.0.0.1:3".to_owned()));
        assert_eq!(Config::from_layers(&layers).unwrap().listen.port(), 3);
        assert_eq!(layers.value(&SETTINGS[0]).source, Source::Flag);
    }

    #[test]
    fn every_problem_is_told_at_once() {
        let layers = environment(&[
            ("PREAUTH_LISTEN", "nowhere"),
            ("PREAUTH_PLATFORM_LISTEN", "0.0.0.0:8081"),
            ("PREAUTH_PLATFORM_TOKEN", "short"),
            ("PREAUTH_RATE_LIMIT_REQUESTS", "0"),
            ("PREAUTH_TYPO", "1"),
            ("HOME", "elsewhere"),
        ]);
        let error = Config::from_layers(&layers).unwrap_err();
        assert_eq!(error.0.len(), 5, "{error}");
    }

    #[test]
    fn a_database_that_no_url_names_is_a_problem() {
        for url in [
            "mysql://db/preauth",
            "sqlite://",
            "postgres://host:port/preauth",
        ] {
            let given = [("PREAUTH_DATABASE", url), TOKEN, SHARED];
            let error = Config::from_layers(&environment(&given)).unwrap_err();
            assert!(error.to_string().contains("database url must"), "{error}");
            assert_eq!(error.0.len(), 1, "{error}");
        }
    }

    #[test]
    fn the_operator_token_has_one_source_and_on_postgres_a_given_one() {
        let source = |pairs: &[(&str, &str)]| {
            let config = Config::from_layers(&environment(pairs));
            config.map(|config| config.platform_token)
        };
        let file = ("PREAUTH_PLATFORM_TOKEN_FILE", "/run/token");
        let postgres = ("PREAUTH_DATABASE", "postgres://host/preauth");
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
    fn files_on_postgres_lie_where_every_instance_reaches_them() {
        let place = |pairs: &[(&str, &str)]| {
            let config = Config::from_layers(&environment(pairs));
            config.map(|config| config.files_place)
        };
        let postgres = ("PREAUTH_DATABASE", "postgres://host/preauth");
        let s3 = ("PREAUTH_FILES_PLACE", "s3://bucket/invoices");
        assert_eq!(place(&[]).unwrap(), "preauth-data/invoice-files");
        assert_eq!(
            place(&[postgres, TOKEN, SHARED]).unwrap(),
            "preauth-data/invoice-files"
        );
        assert_eq!(place(&[postgres, TOKEN, s3]).unwrap(), s3.1);
        for folder in ["", "/srv/invoices"] {
            let given = ("PREAUTH_FILES_PLACE", folder);
            let refused = place(&[postgres, TOKEN, given]).unwrap_err().to_string();
            assert!(refused.contains("files.shared must be true"), "{refused}");
        }
    }

    #[test]
    fn the_report_hides_secrets_and_names_sources() {
        let report = environment(&[("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef")]).report();
        assert!(!report.contains("0123456789abcdef"), "{report}");
        assert!(report.contains("(hidden)"), "{report}");
        assert!(report.contains("environment"), "{report}");
    }
}
