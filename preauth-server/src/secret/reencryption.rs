//! Encrypts secrets of older master keys again under the active one.

use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;

use crate::directory::{Endpoints, KeptSecret, ResealedSecret};

use super::Vault;
use super::key_usage::Pages;

/// The result of a re-encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reencrypted {
    /// Secrets that the active key encrypts now, and did not before.
    pub secrets: u64,
    /// Secrets that no available key decrypts.
    pub unopened: u64,
    /// Secrets that another transaction had locked; they are unchanged.
    pub held: u64,
}

/// Encrypts every signing secret in force at `now` under the active master key.
///
/// Servers keep working in the meantime: each page is one transaction, and the secret itself does
/// not change. After an interruption, or when secrets were locked, a new call finishes the rest.
pub async fn reencrypt<E: Endpoints + ?Sized>(
    vault: &Vault,
    endpoints: &E,
    now: Timestamp,
) -> Result<Reencrypted, Unavailable> {
    let mut done = Reencrypted::default();
    let mut pages = Pages::new(now);
    while let Some(page) = pages.next(endpoints).await? {
        let mut resealed = Vec::new();
        for kept in page {
            if Vault::key_of(&kept.sealed) == Some(vault.active()) {
                continue;
            }
            match reseal(vault, kept) {
                Some(secret) => resealed.push(secret),
                None => done.unopened = done.unopened.saturating_add(1),
            }
        }
        if !resealed.is_empty() {
            let replaced = endpoints.replace_secrets(resealed).await?;
            done.secrets = done.secrets.saturating_add(replaced.replaced);
            done.held = done.held.saturating_add(replaced.held);
        }
    }
    Ok(done)
}

fn reseal(vault: &Vault, kept: KeptSecret) -> Option<ResealedSecret> {
    let endpoint = kept.id.endpoint;
    let clear = vault.unseal(endpoint, &kept.sealed.0).ok()?;
    let sealed = vault.seal(endpoint, &clear).ok()?;
    Some(ResealedSecret { kept, sealed })
}
