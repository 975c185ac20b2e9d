//! GET /master-keys: the keys that this server holds and the number of secrets that each one
//! encrypts, which shows when an old key can be removed.

use std::collections::BTreeSet;

use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use serde::Serialize;

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::reply::Reply;
use crate::secret::{KeyUsage, Vault, key_usage};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Find;

#[async_trait]
impl Endpoint for Find {
    async fn answer(&self, api: &PlatformApi, _req: &mut Request) -> Result<Reply, ApiError> {
        let key_usage = key_usage(&*api.directory, api.clock.now()).await?;
        let body = convert::text(&MasterKeysShape::of(&api.vault, &key_usage));
        Ok(Reply::json(StatusCode::OK, body))
    }
}

#[derive(Debug, Serialize)]
struct MasterKeysShape {
    active: String,
    keys: Vec<MasterKeyShape>,
    unreadable: u64,
}

#[derive(Debug, Serialize)]
struct MasterKeyShape {
    id: String,
    known: bool,
    secrets: u64,
}

impl MasterKeysShape {
    /// The keys of this server in the order of its file, then keys that only stored secrets name.
    fn of(vault: &Vault, key_usage: &KeyUsage) -> Self {
        let known: BTreeSet<_> = vault.keys().collect();
        let strangers = key_usage.by_key.keys().filter(|id| !known.contains(id));
        let shape = |id| MasterKeyShape {
            id: format!("{id}"),
            known: known.contains(&id),
            secrets: key_usage.by_key.get(&id).copied().unwrap_or_default(),
        };
        Self {
            active: vault.active().to_string(),
            keys: vault.keys().chain(strangers.copied()).map(shape).collect(),
            unreadable: key_usage.unreadable,
        }
    }
}
