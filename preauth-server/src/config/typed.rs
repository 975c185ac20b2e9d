//! The typed configuration for the rest of the program.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::Policy;
use url::Host;

use crate::access::RateLimit;
use crate::hold::DeploymentId;
use crate::http::server::ConnectionLimits;
use crate::janitor::Retention;
use crate::log::chain;
use crate::mail::MailSettings;
use crate::store::DatabaseUrl;
use crate::telemetry::traces::TraceSettings;
use crate::telemetry::{LogFormat, LogLevel};

use super::reader::{Kept, Reader};
use super::{ConfigError, Layers, Portal, TokenSource, Webhooks};

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address of the integration API.
    pub listen: SocketAddr,
    /// Address of the platform API and the probes.
    pub platform_listen: SocketAddr,
    /// Folder of the SQLite database and of key files.
    pub data: PathBuf,
    /// The location of the database.
    pub database_url: DatabaseUrl,
    /// The source of the operator token.
    pub platform_token: TokenSource,
    /// The source of the token that will replace it, if there is one.
    pub next_platform_token: Option<TokenSource>,
    /// Additional host names of the private listener, besides its address and this machine's.
    pub console_hosts: Vec<Host>,
    /// The supplier's page, if there is one.
    pub portal: Option<Portal>,
    /// The file of the master key.
    pub master_key_file: PathBuf,
    /// Whether the operator named the file of the master key; otherwise the server creates it.
    pub master_key_is_given: bool,
    /// The deployment's id, if it has one.
    pub deployment: Option<DeploymentId>,
    /// Whether the server only reads: it sends nothing and writes nothing.
    pub is_quiet: bool,
    /// Whether the operator declares the machine's clock correct.
    pub trusts_clock: bool,
    /// The location of invoice files: a folder, or an address of S3-compatible storage.
    pub files_place: String,
    /// Maximum size of one head office's invoice files together, if it is limited.
    pub files_quota_bytes: Option<NonZeroU64>,
    /// The connection limits of each listener, and how its clients are determined.
    pub connections: ConnectionLimits,
    /// Requests per window and key.
    pub rate_limit: RateLimit,
    /// Configurable limits of the rules.
    pub policy: Policy,
    /// How long records are kept after their end.
    pub retention: Retention,
    /// The letterhead, limits and transport of mails.
    pub mail: MailSettings,
    /// The settings of webhooks.
    pub webhooks: Webhooks,
    /// The format of the log.
    pub log_format: LogFormat,
    /// The least important events in the log.
    pub log_level: LogLevel,
    /// Where traces go, if they are sent.
    pub traces: Option<TraceSettings>,
    /// Time for requests in progress at shutdown.
    pub grace: Duration,
}

const MAX_DAYS: u32 = 3_650;
const MAX_GRACE_SECONDS: u32 = 600;

impl Config {
    /// Parses and validates all settings, or returns every problem.
    pub fn from_layers(layers: &Layers) -> Result<Self, ConfigError> {
        let mut reader = Reader {
            layers,
            problems: layers.problems().to_vec(),
        };
        let config = reader.config();
        reader.end(config)
    }

    /// The same for `config check`, which also finds the files missing that a server would.
    pub fn from_layers_and_files(layers: &Layers) -> Result<Self, ConfigError> {
        let mut reader = Reader {
            layers,
            problems: layers.problems().to_vec(),
        };
        let config = reader.config();
        reader.missing_files();
        reader.end(config)
    }

    /// The location of the database, for commands that need nothing else: migrations and audits
    /// need no tokens and keys of a server.
    pub fn database_url(layers: &Layers) -> Result<DatabaseUrl, ConfigError> {
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

    /// The location of the database and of the invoice files: the settings of backups and restores.
    pub fn backed_up(layers: &Layers) -> Result<(DatabaseUrl, String), ConfigError> {
        let url = Self::database_url(layers)?;
        let mut reader = Reader {
            layers,
            problems: Vec::new(),
        };
        let data = PathBuf::from(reader.text("data"));
        let place = reader.files_place(&data, &url);
        place
            .map(|place| (url, place))
            .ok_or_else(|| reader.problems.into())
    }

    /// The settings of an audit.
    pub fn audited(layers: &Layers) -> Result<AuditSettings, ConfigError> {
        let url = Self::database_url(layers)?;
        let mut reader = Reader {
            layers,
            problems: Vec::new(),
        };
        let (share, mails) = (reader.daily_share(), reader.mail_retention());
        let settings = share
            .zip(mails)
            .map(|(daily_share, Kept(mails_kept))| AuditSettings {
                url,
                daily_share,
                mails_kept,
            });
        settings.ok_or_else(|| reader.problems.into())
    }
}

/// The settings of an audit.
#[derive(Clone, Debug)]
pub struct AuditSettings {
    /// The location of the database.
    pub url: DatabaseUrl,
    /// The daily limit of mails to an address.
    pub daily_share: NonZeroU32,
    /// How long mails are kept after their end; `None`: for good.
    pub mails_kept: Option<TimeDelta>,
}

impl Reader<'_> {
    fn end(self, config: Option<Config>) -> Result<Config, ConfigError> {
        match config {
            Some(config) if self.problems.is_empty() => Ok(config),
            _ => Err(self.problems.into()),
        }
    }

    fn mail_retention(&mut self) -> Option<Kept> {
        self.days_or_off("mail.retention_days", MAX_DAYS)
    }

    fn retention(&mut self) -> Option<Retention> {
        let events = self.whole("rules.event_retention_days", MAX_DAYS);
        let files = self.days_or_off("files.retention_days", MAX_DAYS);
        let mails = self.mail_retention();
        Some(Retention {
            events: TimeDelta::days(events?.into()),
            mails: mails?.0,
            files: files?.0,
            ..Retention::default()
        })
    }

    fn config(&mut self) -> Option<Config> {
        let listen = self.parse::<SocketAddr>("listen", "an address like 127.0.0.1:8080");
        let platform_listen = self.platform_listen();
        let data = PathBuf::from(self.text("data"));
        let database_url = self.database_url(&data);
        let platform_token = self.platform_token(&database_url);
        let next_platform_token = self.next_platform_token();
        let console_hosts = self.console_hosts();
        let portal = self.supplier_portal();
        let master_key_file = self.text("master_key_file");
        let deployment = self.deployment();
        let is_quiet = self.parse::<bool>("quiet_outbound", "true or false");
        let trusts_clock = self.parse::<bool>("trust_clock", "true or false");
        let files_place = self.files_place(&data, &database_url);
        let files_quota_bytes = self.files_quota();
        let connections = self.connections();
        let requests = self.whole("rate_limit.requests", u32::MAX);
        let window_seconds = self.whole("rate_limit.window_seconds", u32::MAX);
        let offer_days = self.whole("rules.offer_lifetime_days", MAX_DAYS);
        let retention_days = self.whole("rules.idempotency_retention_days", MAX_DAYS);
        let retention = self.retention();
        let four_eyes = self.parse::<bool>("rules.four_eyes", "true or false");
        let mail = self.mail();
        let layers = self.layers;
        let webhooks = Webhooks::read(|key| layers.of(key).text, &mut self.problems);
        let log_format = self.log_format();
        let log_level = self.parse::<LogLevel>("log.level", LogLevel::FORM);
        let traces = self.trace_settings();
        let grace = self.whole("shutdown.grace_seconds", MAX_GRACE_SECONDS);
        let portal_listen = ("portal.listen", portal.as_ref().map(|portal| portal.listen));
        self.must_differ(("listen", listen), ("platform_listen", platform_listen));
        self.must_differ(portal_listen, ("listen", listen));
        self.must_differ(portal_listen, ("platform_listen", platform_listen));
        Some(Config {
            listen: listen?,
            platform_listen: platform_listen?,
            database_url,
            platform_token: platform_token?,
            next_platform_token: next_platform_token?,
            console_hosts: console_hosts?,
            portal,
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
            files_quota_bytes,
            connections: connections?,
            rate_limit: RateLimit {
                requests: requests?,
                window_seconds: window_seconds?,
            },
            policy: Policy {
                offer_lifetime: TimeDelta::days(offer_days?.into()),
                idempotency_retention: TimeDelta::days(retention_days?.into()),
                four_eyes: four_eyes?,
            },
            retention: retention?,
            mail: mail?,
            webhooks,
            log_format: log_format?,
            log_level: log_level?,
            traces,
            grace: Duration::from_secs(grace?.into()),
        })
    }

    /// Two listeners cannot have one address; port 0 is another one each time.
    fn must_differ(
        &mut self,
        (name, one): (&str, Option<SocketAddr>),
        (than, other): (&str, Option<SocketAddr>),
    ) {
        if one.is_some_and(|one| one.port() != 0 && Some(one) == other) {
            self.problem(&format!("{name} and {than} must differ"));
        }
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

    fn database_url(&mut self, data: &Path) -> DatabaseUrl {
        let is_private = self.parse("database_network_is_private", "true or false");
        let mut text = self.text("database");
        if text.is_empty() {
            text = format!("sqlite://{}", data.join("preauth.db").display());
        }
        let url = match is_private {
            Some(true) => DatabaseUrl::on_private_network(text),
            Some(false) | None => text.into(),
        };
        if let Err(error) = url.validate() {
            self.problems.push(chain(&error));
        }
        url
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
}

#[cfg(test)]
mod tests {
    use super::{Config, Layers, Retention, TimeDelta};
    use crate::config::{SETTINGS, Source};

    const SHARED: (&str, &str) = ("PREAUTH_FILES_SHARED", "true");
    const TOKEN: (&str, &str) = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");

    // Contract: limit/requests
    #[test]
    fn the_defaults_are_usable() {
        let config = Config::from_layers(&Layers::default()).unwrap();
        let database = "sqlite://preauth-data/preauth.db".into();
        assert_eq!(config.database_url, database);
        assert_eq!(config.rate_limit.requests, 120);
    }

    #[test]
    fn a_command_that_needs_only_the_database_needs_no_token() {
        let url = "postgres://preauth@localhost/preauth";
        let layers = Layers::of_environment(&[("PREAUTH_DATABASE", url)]);
        assert!(Config::from_layers(&layers).is_err());
        assert_eq!(Config::database_url(&layers).unwrap(), url.into());
        let layers = Layers::of_environment(&[("PREAUTH_DATABASE", "mysql://db")]);
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
    fn every_problem_is_reported() {
        let layers = Layers::of_environment(&[
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
            let error = Config::from_layers(&Layers::of_environment(&given)).unwrap_err();
            assert!(error.to_string().contains("database url must"), "{error}");
            assert_eq!(error.0.len(), 1, "{error}");
        }
    }

    #[test]
    fn retention_is_off_or_a_number_of_days() {
        let retention = |files: &str, mails: &str| {
            let given = [
                ("PREAUTH_FILES_RETENTION_DAYS", files),
                ("PREAUTH_MAIL_RETENTION_DAYS", mails),
            ];
            let config = Config::from_layers(&Layers::of_environment(&given));
            config.map(|config| (config.retention.files, config.retention.mails))
        };
        let days = |days| Some(TimeDelta::days(days));
        let config = Config::from_layers(&Layers::default()).unwrap();
        assert_eq!(config.retention, Retention::default());
        assert_eq!(retention("off", "30").unwrap(), (None, days(30)));
        assert_eq!(retention("3650", "off").unwrap(), (days(3_650), None));
        for refused in ["0", "3651", "-1", "1.5", "OFF", "30 days"] {
            for (files, mails) in [(refused, "30"), ("off", refused)] {
                let error = retention(files, mails).unwrap_err().to_string();
                assert!(error.contains("retention_days must be off or"), "{error}");
            }
        }
    }

    #[test]
    fn the_report_hides_secrets_and_names_sources() {
        let report =
            Layers::of_environment(&[("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef")]).report();
        assert!(!report.contains("0123456789abcdef"), "{report}");
        assert!(report.contains("(hidden)"), "{report}");
        assert!(report.contains("environment"), "{report}");
    }
}
