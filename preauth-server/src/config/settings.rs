//! All settings: name, default, and purpose.

/// A setting of the configuration file.
///
/// `rate_limit.requests` is `requests` in section `[rate_limit]` of the file and
/// `PREAUTH_RATE_LIMIT_REQUESTS` in the environment.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in the file, section first.
    pub key: &'static str,
    /// The value when no source contains the setting; empty means derived or none.
    pub default: &'static str,
    /// Its purpose, with its unit.
    pub purpose: &'static str,
    /// Whether its value must not be printed.
    pub secret: bool,
    /// Whether a running server takes a new value at SIGHUP.
    pub is_read_again: bool,
}

/// All settings, in the order in which they are printed.
pub const SETTINGS: [Setting; 52] = [
    plain(
        "listen",
        "127.0.0.1:8080",
        "address of the integration API; plain HTTP, so put a TLS proxy in front of it",
    ),
    plain(
        "platform_listen",
        "127.0.0.1:8081",
        "address of the platform API, probes and metrics; keep it private",
    ),
    plain(
        "platform_listen_anywhere",
        "false",
        "whether platform_listen may be other than loopback",
    ),
    plain(
        "data",
        "preauth-data",
        "folder of the SQLite database and of key files, relative to the working directory",
    ),
    plain(
        "database",
        "",
        "sqlite://FILE, by default preauth.db in data; or \
         postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full, with \
         sslrootcert=FILE for a CA of your own, sslcert=FILE&sslkey=FILE for a client certificate",
    ),
    plain(
        "database_network_is_private",
        "false",
        "whether PostgreSQL on another machine is taken without a verified certificate; otherwise its URL needs \
         sslmode=verify-full",
    ),
    secret(
        "platform_token",
        "",
        "operator token, 16 characters or more; by default made in data at the first start; on PostgreSQL this or \
         platform_token_file is required",
    ),
    plain(
        "platform_token_file",
        "",
        "file that holds the operator token, in place of platform_token",
    ),
    secret(
        "platform_token_next",
        "",
        "operator token that is accepted, too, while one replaces the other",
    ),
    plain(
        "platform_token_next_file",
        "",
        "file that holds it, in place of platform_token_next",
    ),
    plain(
        "console.hosts",
        "",
        "names under which platform_listen is reached beside its address and this machine's, with \
         commas",
    ),
    plain(
        "portal.listen",
        "",
        "address of the supplier's page, like 127.0.0.1:8082; plain HTTP, so put a TLS proxy in front of it; without \
         it there is no such page",
    ),
    plain(
        "portal.url",
        "",
        "where suppliers reach it, like https://ofertas.example.com; mails about offers then carry a link each",
    ),
    plain(
        "platform_url",
        "",
        "where administration commands find the platform API; by default the server that runs here",
    ),
    plain(
        "master_key_file",
        "",
        "keys that encrypt signing secrets, 64 hexadecimal digits on a line each, the first of them active; by default \
         master.key in data, made there at the first start, but not on PostgreSQL",
    ),
    plain(
        "deployment_id",
        "",
        "8 to 64 letters, digits, '.', '_' and '-', the same to every instance and not in any backup; \
         another deployment's database is only read",
    ),
    plain(
        "deployment_id_file",
        "",
        "file that holds it, in place of deployment_id",
    ),
    plain(
        "quiet_outbound",
        "false",
        "whether the database is only looked at: nothing goes out, expires or is written",
    ),
    plain(
        "trust_clock",
        "false",
        "whether a clock behind the latest moment in a SQLite database is taken for right",
    ),
    plain(
        "files.place",
        "",
        "folder of the invoice files, or s3://BUCKET/PREFIX; by default invoice-files in data",
    ),
    plain(
        "files.shared",
        "false",
        "whether every instance reaches that folder; asked for on PostgreSQL",
    ),
    plain(
        "files.quota_gib",
        "",
        "GiB that the invoice files of one head office may have; by default they are not limited",
    ),
    plain(
        "files.retention_days",
        "off",
        "days after its operation was concluded or reproved until an invoice file is removed, or off",
    ),
    plain(
        "connections.max",
        "2048",
        "open connections of each listener",
    ),
    plain(
        "connections.max_per_client",
        "256",
        "open connections of one IPv4 address or IPv6 /64 network to each listener",
    ),
    plain(
        "connections.uncounted_networks",
        "127.0.0.0/8,::1/128",
        "networks whose connections are not counted by address, with commas",
    ),
    plain(
        "trusted_proxies",
        "",
        "networks of proxies whose X-Forwarded-For names the client, as 10.1.0.0/16, with commas",
    ),
    live(
        "rate_limit.requests",
        "120",
        "requests per window and API key",
    ),
    live(
        "rate_limit.window_seconds",
        "60",
        "length of the window, in seconds",
    ),
    plain(
        "rules.offer_lifetime_days",
        "30",
        "days that an offer stands at most",
    ),
    plain(
        "rules.idempotency_retention_days",
        "30",
        "days that an idempotency key is remembered",
    ),
    plain(
        "rules.event_retention_days",
        "30",
        "days that events can be read on request",
    ),
    plain(
        "rules.four_eyes",
        "false",
        "whether the operator who released an operation may not pay it, so that two named operators take part",
    ),
    plain(
        "mail.from",
        "",
        "sender of mails, like Plataforma <avisos@example.com>; needed with a mail server",
    ),
    plain(
        "mail.portal_url",
        "",
        "where readers of mails go on; without it mails have no link",
    ),
    live(
        "mail.daily_share",
        "20",
        "offers and invitations that one address is sent in a day",
    ),
    live(
        "mail.daily_share_per_company",
        "5",
        "of these, the ones of one head office; more offers go together in one mail",
    ),
    live(
        "mail.new_addresses_per_day",
        "10000",
        "addresses that one head office reaches for the first time in a day",
    ),
    plain(
        "mail.retention_days",
        "30",
        "days after its end until the record of a mail is removed, or off",
    ),
    plain(
        "mail.smtp_host",
        "",
        "mail server; without one mails become files in mails in data",
    ),
    plain(
        "mail.smtp_port",
        "",
        "its port; by default 587 with starttls, 465 with tls, 25 with none",
    ),
    plain(
        "mail.smtp_tls",
        "starttls",
        "how the way there is encrypted: starttls, tls or none",
    ),
    plain("mail.smtp_user", "", "account at the mail server"),
    plain(
        "mail.smtp_password_file",
        "",
        "file that holds the account's password",
    ),
    live(
        "webhooks.allowed_networks",
        "",
        "networks that webhooks may go to beside public addresses, as 10.1.0.0/16, with commas; there, and \
         nowhere else, plain HTTP, any port and private names are allowed, too",
    ),
    plain(
        "webhooks.resolver",
        "",
        "address and port of the DNS resolver for receivers' names; by default the hosts file and the operating \
         system's resolver, without its search domains",
    ),
    plain(
        "webhooks.extra_roots",
        "",
        "PEM file of certificates that are trusted beside the platform's",
    ),
    plain("log.format", "json", "json or text, on standard error"),
    live(
        "log.level",
        "info",
        "error, warn, info, debug or trace; the variable RUST_LOG comes before it",
    ),
    plain(
        "traces.endpoint",
        "",
        "where OpenTelemetry spans are sent, by OTLP over HTTP, like http://127.0.0.1:4318/v1/traces; without it \
         none are",
    ),
    plain(
        "traces.percent",
        "100",
        "of a hundred traces, those that are sent",
    ),
    plain(
        "shutdown.grace_seconds",
        "20",
        "seconds that requests under way have to end",
    ),
];

impl Setting {
    /// Its name in the environment.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("PREAUTH_{}", self.key.replace('.', "_").to_uppercase())
    }
}

const fn plain(key: &'static str, default: &'static str, purpose: &'static str) -> Setting {
    Setting {
        key,
        default,
        purpose,
        secret: false,
        is_read_again: false,
    }
}

const fn live(key: &'static str, default: &'static str, purpose: &'static str) -> Setting {
    Setting {
        is_read_again: true,
        ..plain(key, default, purpose)
    }
}

const fn secret(key: &'static str, default: &'static str, purpose: &'static str) -> Setting {
    Setting {
        key,
        default,
        purpose,
        secret: true,
        is_read_again: false,
    }
}
