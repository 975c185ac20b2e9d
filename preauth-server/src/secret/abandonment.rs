//! Abandons lost master keys: the secrets that they encrypted end, so that the server can start.

use std::collections::BTreeMap;

use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};

use crate::directory::{Abandoned, Endpoints};

use super::key_usage::Pages;
use super::{MasterKeyId, Vault};

/// Ends every signing secret in force at `now` that one of `keys` encrypted, and returns the
/// endpoints that lost secrets.
///
/// An endpoint without another secret that stays in force is paused: its events are kept, none is
/// sent unsigned, and it waits for a rotation and its resumption. Each page is one transaction.
/// After an interruption a new call finishes the rest.
pub async fn abandon<E: Endpoints + ?Sized>(
    keys: &[MasterKeyId],
    endpoints: &E,
    now: Timestamp,
) -> Result<Vec<Abandoned>, Unavailable> {
    let mut all: BTreeMap<CompanyId, Abandoned> = BTreeMap::new();
    let mut pages = Pages::new(now);
    while let Some(mut page) = pages.next(endpoints).await? {
        page.retain(|kept| Vault::key_of(&kept.sealed).is_some_and(|key| keys.contains(&key)));
        if page.is_empty() {
            continue;
        }
        for abandoned in endpoints.abandon_secrets(page, now).await? {
            // Its secrets may be on two pages; the state after the last one counts.
            let before = all
                .get(&abandoned.company)
                .map_or(0, |before| before.secrets);
            let secrets = abandoned.secrets.saturating_add(before);
            all.insert(
                abandoned.company,
                Abandoned {
                    secrets,
                    ..abandoned
                },
            );
        }
    }
    Ok(all.into_values().collect())
}
