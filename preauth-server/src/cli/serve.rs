//! `serve`: the service in production.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::announcement::Announcement;
use crate::app::{self, Parts, Running};
use crate::clock::{Clock, SystemClock};
use crate::config::{Config, Layers, TokenSource};
use crate::http::Strangers;
use crate::invoice_files::InvoiceFiles;
use crate::secret::{self, OperatorToken, Vault};
use crate::{files, store, telemetry};

use super::CliError;

/// Where the configuration comes from; every setting also has a `PREAUTH_` variable.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Configuration file (TOML).
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

impl ServeArgs {
    /// File, then environment, then flags.
    pub(super) fn layers(&self) -> Layers {
        let mut layers = Layers::default();
        if let Some(path) = &self.config {
            layers.file(path);
        }
        layers.environment(std::env::vars());
        layers.flag("listen", self.listen.clone());
        layers.flag("platform_listen", self.platform_listen.clone());
        layers.flag("data", self.data.clone());
        layers.flag("database", self.database.clone());
        layers
    }
}

pub(super) async fn run(args: &ServeArgs) -> Result<(), CliError> {
    let config = Config::from_layers(&args.layers())?;
    telemetry::start(config.log_format);
    let given = Given::read(&config)?;
    let mails = config.mail.desk(&config.data)?;
    if config.mail.smtp.is_none() {
        let folder = config.data.join("mails");
        tracing::warn!(folder = %folder.display(), "mails reach nobody without mail.smtp_host: they become files");
    }
    // Only a server that has its database leaves files of its own.
    let stores = store::open(&config.database_url).await?;
    files::create_private_directory(&config.data)
        .map_err(|error| format!("cannot create folder {}: {error}", config.data.display()))?;
    let (vault, token) = given.complete(&config)?;
    secret::prove(&vault, &*stores.directory, SystemClock.now()).await?;
    let targets = config.webhooks.targets()?;
    for network in targets.policy().listed() {
        tracing::warn!(%network, "webhooks may go to this network, public or not");
    }
    let (place, ledger) = (&config.files_place, Arc::clone(&stores.files));
    let files = InvoiceFiles::open(place, &config.data, ledger, Arc::new(SystemClock))?;
    let running = app::start(Parts {
        stores,
        files: Arc::new(files),
        clock: Arc::new(SystemClock),
        vault,
        token,
        policy: config.policy,
        rate_limit: config.rate_limit,
        strangers: Strangers::limited(),
        mails,
        targets,
        extra_roots: config.webhooks.extra_roots.clone(),
        listen: config.listen,
        platform_listen: config.platform_listen,
        time_machine: None,
        magic: None,
    })
    .await?;
    let _announced = announce(&config, &running);
    tracing::info!(
        integration = %running.address(),
        platform = %running.platform_address(),
        "ready"
    );
    app::wait_for_signal().await?;
    tracing::info!(grace_seconds = config.grace.as_secs(), "stopping");
    running.stop(config.grace).await;
    tracing::info!("stopped");
    Ok(())
}

/// Lets the administration commands of this machine find the server by themselves.
fn announce(config: &Config, running: &Running) -> Option<Announcement> {
    let announced = Announcement::publish(&config.data, running.platform_address());
    announced
        .inspect_err(|error| {
            let data = config.data.display();
            tracing::warn!(%data, %error, "administration commands need --platform-url");
        })
        .ok()
}

/// The secrets that the operator gave; what is missing is made later.
struct Given {
    vault: Option<Vault>,
    token: Option<OperatorToken>,
}

impl Given {
    fn read(config: &Config) -> Result<Self, CliError> {
        let vault = config
            .master_key_is_given
            .then(|| Vault::open(&config.master_key_file));
        let token = match &config.platform_token {
            TokenSource::Given(token) => Some(token.clone()),
            TokenSource::File(path) => Some(OperatorToken::open(path)?),
            TokenSource::Own => None,
        };
        Ok(Self {
            vault: vault.transpose()?,
            token,
        })
    }

    /// Opens what stands in the data folder, and makes it at the first start.
    fn complete(self, config: &Config) -> Result<(Vault, OperatorToken), CliError> {
        let vault = match self.vault {
            Some(vault) => vault,
            None => own_vault(config)?,
        };
        let token = match self.token {
            Some(token) => token,
            None => own_token(&OperatorToken::file_in(&config.data))?,
        };
        Ok((vault, token))
    }
}

fn own_vault(config: &Config) -> Result<Vault, CliError> {
    let path = &config.master_key_file;
    let is_new = !path.exists();
    if is_new && store::is_postgres(&config.database_url) {
        let path = path.display();
        return Err(format!(
            "there is no master key file {path}; on PostgreSQL every instance needs the same one, \
             and none makes its own: make it once, `(umask 077; openssl rand -hex 32 > {path})`, \
             and give every instance a copy, there or where master_key_file says"
        )
        .into());
    }
    let vault = Vault::open_or_create(path)?;
    if is_new {
        tracing::info!(path = %path.display(), "made a master key; keep this file with the backups");
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
