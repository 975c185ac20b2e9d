//! A sandbox's own database: its owner is checked before anything is changed.

use std::path::Path;

use preauth_core::port::PageRequest;

use crate::access;
use crate::cli::CliError;
use crate::config::{Config, Layers};
use crate::sandbox::{Credentials, sandbox_of};
use crate::store::sandbox::{self, SandboxMark};
use crate::store::{self, DatabaseUrl, Stores};

/// The only server setting that applies here.
const NETWORK_IS_PRIVATE: &str = "PREAUTH_DATABASE_NETWORK_IS_PRIVATE";

/// The location of the database; a file in the data folder by default.
pub(super) fn database(given: Option<String>, data: &Path) -> Result<DatabaseUrl, CliError> {
    let mut layers = Layers::default();
    let variables = std::env::vars();
    layers.environment(variables.filter(|(name, _)| name == NETWORK_IS_PRIVATE));
    layers.flag("data", Some(data.display().to_string()));
    layers.flag("database", given);
    Ok(Config::database_url(&layers)?)
}

/// The mark of the database, which belongs to this sandbox; fails, and changes nothing, when the
/// database or the folder belongs to another owner.
pub(super) async fn claim(url: &DatabaseUrl, data: &Path) -> Result<SandboxMark, CliError> {
    let id = sandbox_of(data)
        .map_err(|error| format!("cannot use {} for a sandbox: {error}", data.display()))?;
    let kept = Credentials::load(data)?;
    let key = kept.and_then(|kept| access::hash_of_presented(&kept.api_key));
    let mark = sandbox::claim(url, &id, key.as_ref()).await?;
    if mark.id != id {
        let text = "this database is not this sandbox's own: it belongs to a sandbox with another data \
                    folder; nothing was changed; start it with that --data folder, or choose another \
                    database";
        return Err(text.into());
    }
    Ok(mark)
}

/// Opens the database; creates it again when the first start was interrupted while it wrote the
/// demo data.
pub(super) async fn open(url: &DatabaseUrl, mark: &SandboxMark) -> Result<Stores, CliError> {
    let stores = migrated(url).await?;
    if mark.is_seeded || is_empty(&stores).await? {
        return Ok(stores);
    }
    stores.lifecycle.close().await;
    drop(stores);
    sandbox::discard(url, &mark.id).await?;
    sandbox::claim(url, &mark.id, None).await?;
    migrated(url).await
}

async fn migrated(url: &DatabaseUrl) -> Result<Stores, CliError> {
    store::migrate(url).await?;
    let stores = store::open(url).await?;
    stores.lifecycle.warm_up().await;
    Ok(stores)
}

async fn is_empty(stores: &Stores) -> Result<bool, CliError> {
    let first = PageRequest { page: 1, limit: 1 };
    Ok(stores.directory.companies(first).await?.total == 0)
}
