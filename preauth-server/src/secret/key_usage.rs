//! Which master keys the secrets of a database need.

use std::collections::BTreeMap;

use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;

use crate::directory::{Endpoints, KeptSecret, SecretId};

use super::master_key::MasterKeyId;
use super::vault::Vault;

/// Number of secrets per page.
const PAGE: u32 = 500;

/// The signing secrets in force, by the master key that encrypted them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyUsage {
    /// The number of secrets per key.
    pub by_key: BTreeMap<MasterKeyId, u64>,
    /// The number of values that no vault encrypted; they cannot be decrypted.
    pub unreadable: u64,
}

impl KeyUsage {
    pub(super) fn add(&mut self, kept: &KeptSecret) {
        let count = match Vault::key_of(&kept.sealed) {
            Some(key) => self.by_key.entry(key).or_default(),
            None => &mut self.unreadable,
        };
        *count = count.saturating_add(1);
    }
}

/// Counts the signing secrets in force at `now`.
pub async fn key_usage<E: Endpoints + ?Sized>(
    endpoints: &E,
    now: Timestamp,
) -> Result<KeyUsage, Unavailable> {
    let mut key_usage = KeyUsage::default();
    let mut pages = Pages::new(now);
    while let Some(page) = pages.next(endpoints).await? {
        for kept in &page {
            key_usage.add(kept);
        }
    }
    Ok(key_usage)
}

/// All signing secrets in force, page by page.
pub(super) struct Pages {
    now: Timestamp,
    last: Option<SecretId>,
}

impl Pages {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { now, last: None }
    }

    /// The next page; `None` after the last one.
    pub(super) async fn next<E: Endpoints + ?Sized>(
        &mut self,
        endpoints: &E,
    ) -> Result<Option<Vec<KeptSecret>>, Unavailable> {
        let page = endpoints.secrets_in_force(self.now, self.last, PAGE);
        let page = page.await?;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        self.last = Some(last.id);
        Ok(Some(page))
    }
}
