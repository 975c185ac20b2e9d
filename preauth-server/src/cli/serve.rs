//! `serve`: the service in production.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::app::{self, Parts};
use crate::clock::SystemClock;
use crate::config::{Config, Layers};
use crate::dispatcher::TargetPolicy;
use crate::http::Strangers;
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
    /// Folder of the embedded database and of key files.
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
    files::create_private_directory(&config.data)
        .map_err(|error| format!("cannot create folder {}: {error}", config.data.display()))?;
    let vault = if config.master_key_is_given {
        Vault::open(&config.master_key_file)?
    } else {
        Vault::open_or_create(&config.master_key_file)?
    };
    let token = match &config.platform_token {
        Some(token) => token.clone(),
        None if store::is_postgres(&config.database_url) => {
            return Err(
                "platform_token must be given on PostgreSQL, the same to every instance; \
                        without one each instance would make its own"
                    .into(),
            );
        }
        None => token_file(&config)?,
    };
    let stores = store::open(&config.database_url).await?;
    secret::prove(&vault, &*stores.directory).await?;
    let running = app::start(Parts {
        stores,
        clock: Arc::new(SystemClock),
        vault,
        token,
        policy: config.policy,
        rate_limit: config.rate_limit,
        strangers: Strangers::limited(),
        targets: TargetPolicy::Public,
        listen: config.listen,
        platform_listen: config.platform_listen,
        time_machine: None,
        magic: None,
    })
    .await?;
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

/// The operator token of the data folder, made at the first start.
fn token_file(config: &Config) -> Result<OperatorToken, CliError> {
    let path = config.data.join("platform-token");
    let (token, is_new) = OperatorToken::open_or_create(&path)?;
    if is_new {
        tracing::info!(path = %path.display(), "made an operator token; it is in this file");
    }
    Ok(token)
}
