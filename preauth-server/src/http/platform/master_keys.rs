//! `/master-keys`: the keys that encrypt signing secrets, and their re-encryption.

use std::collections::BTreeSet;

use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::answer;
use crate::http::reply::Reply;
use crate::secret::{KeyUsage, Vault, key_usage, reencrypt};

use super::PlatformApi;
use super::endpoint::{Endpoint, ok};
use super::sections::MASTER_KEYS;

answer! {
    /// The keys that this server knows, in its file's order, then those that only secrets name.
    #[derive(Debug)]
    pub(crate) struct MasterKeysShape = "MasterKeys" {
        /// The key that encrypts what is new.
        active: String = "1f40fc92",
        /// All of them.
        keys: Vec<MasterKeyShape>,
        /// Secrets that name no key at all.
        unreadable: u64 = 0 => |it| it.at_least(0),
    }
}

answer! {
    /// A master key.
    #[derive(Debug)]
    pub(crate) struct MasterKeyShape {
        /// The beginning of its SHA-256.
        id: String = "1f40fc92",
        /// Whether this server has it.
        known: bool,
        /// Secrets in force that it encrypts.
        secrets: u64 = 12 => |it| it.at_least(0),
    }
}

answer! {
    /// The numbers of secrets that were encrypted anew, and that were not.
    #[derive(Debug)]
    pub(crate) struct ReencryptedShape = "Reencrypted" {
        /// Secrets that the active key encrypts now, and did not before.
        reencrypted: u64 = 12 => |it| it.at_least(0),
        /// Secrets that no known key opens.
        unopened: u64 = 0 => |it| it.at_least(0),
        /// Secrets that were locked meanwhile and are as before.
        held: u64 = 0 => |it| it.at_least(0),
    }
}

/// The keys that this server holds and the number of secrets that each one encrypts, which shows when
/// an old key can be removed.
#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(MASTER_KEYS, "getMasterKeys", "Get which key encrypts what")
            .note("A key may be taken from the server's file once no secret is left under it.")
            .answers(200, "The keys.", Schema::of::<MasterKeysShape>())
    }

    async fn answer(&self, api: &PlatformApi, _req: &mut Request) -> Result<Reply, ApiError> {
        let key_usage = key_usage(&*api.directory, api.clock.now()).await?;
        Ok(ok(&MasterKeysShape::of(&api.vault, &key_usage)))
    }
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

/// Encrypts every signing secret again under the active key, while deliveries continue.
#[derive(Clone, Copy)]
pub(super) struct Reencrypt;

#[async_trait]
impl Endpoint for Reencrypt {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                MASTER_KEYS,
                "reencryptSecrets",
                "Encrypt every signing secret anew under the active key",
            )
            .note(
                "Deliveries go on meanwhile. Repeat it after an interruption, or when secrets were held: what is \
                 done stays done.",
            )
            .answers(200, "The result.", Schema::of::<ReencryptedShape>())
    }

    async fn answer(&self, api: &PlatformApi, _req: &mut Request) -> Result<Reply, ApiError> {
        let done = reencrypt(&api.vault, &*api.directory, api.clock.now()).await?;
        tracing::info!(
            key = %api.vault.active(),
            secrets = done.secrets,
            unopened = done.unopened,
            held = done.held,
            "signing secrets were sealed anew"
        );
        Ok(ok(&ReencryptedShape {
            reencrypted: done.secrets,
            unopened: done.unopened,
            held: done.held,
        }))
    }
}
