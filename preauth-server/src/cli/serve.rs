//! `serve`: the service in production.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::announcement::Announcement;
use crate::app::{self, Parts, Running, StartError};
use crate::clock::{BootTime, Clock, ServingClock, SystemClock, Uptime};
use crate::config::{Config, Layers, TokenSource, no_master_key};
use crate::hold::{Hold, HoldReason};
use crate::hold_watch::HoldWatch;
use crate::http::UnauthenticatedLimiter;
use crate::http::server::Bound;
use crate::invoice_files::{FileQuota, InvoiceFiles, is_s3, lacks_credentials};
use crate::live::Live;
use crate::mail::{Folder, MailParts};
use crate::secret::{self, OperatorToken, OperatorTokens, SupplierLinks, Vault};
use crate::store::Stores;
use crate::telemetry::traces::Traces;
use crate::{files, service_manager, store, telemetry};

use super::reload::{Changeable, Reload};
use super::{CliError, descriptors};

/// Where the configuration comes from; every setting also has a `PREAUTH_` variable.
#[derive(Clone, Debug, Args)]
pub(super) struct ServeArgs {
    /// Configuration file (TOML); by default that of an installed package,
    /// `/etc/preauth/preauth.toml`, unless `--data` is given.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address of the integration API.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Address of the platform API and the probes.
    #[arg(long, value_name = "ADDRESS")]
    platform_listen: Option<String>,
    /// Folder of the SQLite database and of key files.
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
    /// Where the database is.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// The options that only a running server has.
#[derive(Clone, Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    settings: ServeArgs,
    /// Start for a look: no webhook or mail is sent, nothing expires, writes are refused.
    #[arg(long)]
    quiet_outbound: bool,
    /// Start though the clock lies behind the latest moment in the database (SQLite).
    #[arg(long)]
    trust_clock: bool,
}

impl RunArgs {
    fn layers(&self) -> Layers {
        let mut layers = self.settings.layers();
        let flag = |is_set: bool| is_set.then(|| "true".to_owned());
        layers.flag("quiet_outbound", flag(self.quiet_outbound));
        layers.flag("trust_clock", flag(self.trust_clock));
        layers
    }
}

impl ServeArgs {
    /// File, then environment, then flags.
    pub(super) fn layers(&self) -> Layers {
        let mut layers = Layers::beginning_with(self.config.as_deref(), self.data.as_deref());
        layers.environment(std::env::vars());
        layers.flag("listen", self.listen.clone());
        layers.flag("platform_listen", self.platform_listen.clone());
        layers.flag("data", self.data.clone());
        layers.flag("database", self.database.clone());
        layers
    }
}

pub(super) async fn run(args: &RunArgs) -> Result<(), CliError> {
    let layers = args.layers();
    let config = Config::from_layers(&layers)?;
    let log = telemetry::start(config.log_format, config.log_level);
    let again = args.clone();
    let reload = Reload::begin(layers, move || again.layers())?;
    descriptors::check(config.connections.max_connections);
    let given = GivenSecrets::read(&config)?;
    let mut mails = mails(&config)?;
    if config.data.exists() {
        check_data_folder(&config.data)?;
    }
    // Only a server with an open database writes files of its own.
    let stores = store::open(&config.database_url).await?;
    make_data_folder(&config.data)?;
    let (vault, tokens) = given.complete(&config, &stores).await?;
    let watch = watch(&config, &stores).await?;
    watch.begin().await?;
    let clock = Arc::clone(&watch.clock);
    secret::check_keys(&vault, &*stores.directory, clock.now()).await?;
    let endpoint_validator = config.webhooks.endpoint_validator()?;
    for network in endpoint_validator.policy().listed() {
        tracing::warn!(%network, "webhooks may go to this network, public or not");
    }
    let files = files_of_invoices(&config, &stores, &clock)?;
    let portal = portal(&config, &vault)?;
    mails.letterhead.pages = portal.as_ref().map(|portal| portal.links.clone());
    let rate_limit = Live::new(config.rate_limit);
    let changeable = Changeable::new(log, &rate_limit, &mails.limits, &endpoint_validator);
    stores.lifecycle.warm_up().await;
    // A stop may follow the first answer.
    let signalled = app::wait_for_signal()?;
    let (integration, platform, _announced) = listeners(&config)?;
    let running = app::start(Parts {
        stores,
        files: Arc::new(files),
        clock,
        vault,
        tokens: Arc::new(tokens),
        console_hosts: config.console_hosts.clone(),
        policy: config.policy,
        retention: config.retention,
        rate_limit,
        limiter: UnauthenticatedLimiter::limited(),
        connections: config.connections.clone(),
        mails,
        mail_folder: Folder::in_data(&config.data),
        endpoint_validator,
        extra_roots: config.webhooks.extra_roots.clone(),
        integration,
        platform,
        portal,
        time_machine: None,
        magic: None,
        traces: Traces::start(config.traces.as_ref())?,
        hold: watch.hold.clone(),
        watch: Some(watch),
    })?;
    let reloading = tokio::spawn(reload.run(changeable));
    tracing::info!(
        integration = %running.address(),
        platform = %running.platform_address(),
        portal = running.portal_address().map(tracing::field::display),
        "ready"
    );
    until_signal(signalled, &running).await;
    tracing::info!(grace_seconds = config.grace.as_secs(), "stopping");
    running.stop(config.grace).await;
    reloading.abort();
    tracing::info!("stopped");
    Ok(())
}

/// Makes the data folder if it is not there, and checks who may use it.
fn make_data_folder(folder: &Path) -> Result<(), CliError> {
    files::create_private_directory(folder).map_err(|error| {
        let folder = folder.display();
        format!("cannot create folder {folder}: {error}; make it for this user: `install -d -m 700 -o USER {folder}`")
    })?;
    check_data_folder(folder)?;
    Ok(())
}

/// Serves until the process is asked to end, and tells the service manager so.
async fn until_signal(signalled: impl Future<Output = ()>, running: &Running) {
    service_manager::ready(&format!("integration API on {}", running.address()));
    tokio::select! {
        () = signalled => {}
        () = service_manager::keep_alive(|| running.stall()) => {}
    }
    service_manager::stopping();
}

/// Where invoice files are.
fn files_of_invoices(
    config: &Config,
    stores: &Stores,
    clock: &Arc<ServingClock>,
) -> Result<InvoiceFiles, CliError> {
    let ledger = Arc::clone(&stores.files);
    let clock = Arc::<ServingClock>::clone(clock);
    let files = InvoiceFiles::open(&config.files_place, &config.data, ledger, clock)?;
    let place = &config.files_place;
    if is_s3(place) && lacks_credentials() {
        tracing::warn!(
            "neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY nor another source of credentials is given for \
             {place}: invoice files are kept only if this machine's own role may write there; \
             `preauth-server doctor` tries it"
        );
    }
    let quota = config.files_quota_bytes;
    Ok(files.with_quota(quota.map_or_else(FileQuota::none, FileQuota::of_bytes)))
}

/// How mails are made and sent.
fn mails(config: &Config) -> Result<MailParts, CliError> {
    if config.mail.smtp.is_none() {
        let folder = config.data.join("mails");
        tracing::warn!(folder = %folder.display(), "mails reach nobody without mail.smtp_host: they become files");
    }
    Ok(config.mail.parts(&config.data)?)
}

/// The supplier's page with its listener, if it is configured.
fn portal(config: &Config, vault: &Vault) -> Result<Option<app::Portal>, StartError> {
    let Some(portal) = &config.portal else {
        return Ok(None);
    };
    Ok(Some(app::Portal {
        bound: app::bind(portal.listen)?,
        links: SupplierLinks::new(vault, portal.url.clone()),
        limiter: UnauthenticatedLimiter::limited(),
    }))
}

/// The watch that holds the server while its clock is wrong or its database is another
/// deployment's.
async fn watch(config: &Config, stores: &Stores) -> Result<Arc<HoldWatch>, CliError> {
    let (machine, uptime) = (Arc::new(SystemClock), Arc::new(BootTime));
    let asked_at = uptime.elapsed();
    let clock = match stores.lifecycle.moments().await?.now {
        Some(now) => ServingClock::by_database(machine, uptime, now, asked_at),
        None => ServingClock::by_machine(machine, uptime),
    };
    let hold = Hold::default();
    if config.is_quiet {
        let text = "started with --quiet-outbound: no webhook or mail is sent, nothing expires and \
                    writes are refused";
        hold.begin(HoldReason::QuietOutbound, text);
    }
    if config.deployment.is_none() && config.database_url.is_postgres() {
        tracing::warn!(
            "deployment_id is not given: a physical copy of this database, started with this \
             configuration, would send webhooks again"
        );
    }
    Ok(Arc::new(HoldWatch {
        hold,
        clock: Arc::new(clock),
        lifecycle: Arc::clone(&stores.lifecycle),
        identity: Arc::clone(&stores.identity),
        deployment: config.deployment.clone(),
        trusts_clock: config.trusts_clock,
        health: HoldWatch::health(),
    }))
}

/// Binds the listeners, and lets the administration commands of this machine find the server before a probe
/// says that it is ready.
fn listeners(config: &Config) -> Result<(Bound, Bound, Option<Announcement>), StartError> {
    let (integration, platform) = (
        app::bind(config.listen)?,
        app::bind(config.platform_listen)?,
    );
    let announced = Announcement::publish(&config.data, platform.address());
    let announced = announced.inspect_err(|error| {
        let data = config.data.display();
        tracing::warn!(%data, %error, "administration commands need --platform-url");
    });
    Ok((integration, platform, announced.ok()))
}

/// The secrets given by the operator; missing ones are created later.
struct GivenSecrets {
    vault: Option<Vault>,
    token: Option<OperatorToken>,
    next_token: Option<OperatorToken>,
}

impl GivenSecrets {
    fn read(config: &Config) -> Result<Self, CliError> {
        let vault = config
            .master_key_is_given
            .then(|| Vault::open(&config.master_key_file));
        let next_token = config.next_platform_token.as_ref().map(given_token);
        Ok(Self {
            vault: vault.transpose()?,
            token: given_token(&config.platform_token)?,
            next_token: next_token.transpose()?.flatten(),
        })
    }

    /// Opens the secrets in the data folder, and creates them at the first start.
    async fn complete(
        self,
        config: &Config,
        stores: &Stores,
    ) -> Result<(Vault, OperatorTokens), CliError> {
        let vault = match self.vault {
            Some(vault) => vault,
            None => own_vault(config, stores).await?,
        };
        let token = match self.token {
            Some(token) => token,
            None => own_token(&OperatorToken::file_in(&config.data))?,
        };
        if self.next_token.is_some() {
            tracing::info!(
                "two operator tokens are accepted: platform_token and platform_token_next"
            );
        }
        Ok((vault, OperatorTokens::new(token, self.next_token)))
    }
}

fn check_data_folder(data: &Path) -> Result<(), String> {
    files::check_folder(data)
        .map_err(|error| format!("cannot use data folder {}: {error}", data.display()))
}

/// A token that the operator gave.
fn given_token(source: &TokenSource) -> Result<Option<OperatorToken>, CliError> {
    Ok(match source {
        TokenSource::Given(token) => Some(token.clone()),
        TokenSource::File(path) => Some(OperatorToken::open(path)?),
        TokenSource::Own => None,
    })
}

async fn own_vault(config: &Config, stores: &Stores) -> Result<Vault, CliError> {
    let path = &config.master_key_file;
    let is_new = !path.exists();
    if is_new && config.database_url.is_postgres() {
        return Err(no_master_key(path).into());
    }
    if is_new {
        // A new key would stand where the right one belongs.
        let now = SystemClock.now();
        let needed = secret::check_no_key_is_needed(&*stores.directory, now).await;
        needed
            .map_err(|error| format!("there is no master key file {}: {error}", path.display()))?;
    }
    let vault = Vault::open_or_create(path)?;
    if is_new {
        tracing::info!(path = %path.display(), "made a master key; keep a copy of this file, apart from the backups");
    }
    Ok(vault)
}

fn own_token(path: &Path) -> Result<OperatorToken, CliError> {
    let (token, is_new) = OperatorToken::open_or_create(path)?;
    if is_new {
        tracing::info!(path = %path.display(), "made an operator token; it is in this file");
    }
    Ok(token)
}
