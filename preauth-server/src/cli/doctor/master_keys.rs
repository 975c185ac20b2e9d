//! The master keys: whether they open every signing secret of the database.

use crate::config::Config;
use crate::secret::{Vault, try_secrets};
use crate::store::Checkup;

use super::report::Report;

const KEYS: &str = "master keys";
const MAKE_KEY: &str = "copy it from another instance; only for a new database make it, once, with `(umask 077; \
                        openssl rand -hex 32 > FILE)`, and give every instance a copy";
/// Number of endpoints that are named.
const MAX_NAMED: usize = 3;

pub(super) fn examine(config: &Config, checkup: Option<&Checkup>, report: &mut Report) {
    let path = &config.master_key_file;
    let contents = checkup.and_then(|it| it.contents.as_ref());
    let secrets = contents.map_or(&[][..], |contents| &contents.secrets);
    let is_new = checkup.is_some_and(|it| it.schema.is_none());
    let is_compared = contents.is_some() || is_new;
    let vault = if path.exists() {
        match Vault::open(path) {
            Ok(vault) => Some(vault),
            // The line of the secret files says why.
            Err(_) => return,
        }
    } else {
        None
    };
    match try_secrets(vault.as_ref(), secrets) {
        Err(missing) => report.failed(KEYS, &missing.to_string(), None),
        Ok(shut) if !shut.is_empty() => {
            let named: Vec<_> = shut
                .iter()
                .take(MAX_NAMED)
                .map(ToString::to_string)
                .collect();
            let found = format!(
                "{} of {} signing secrets are damaged: no key opens those of the endpoints {}",
                shut.len(),
                secrets.len(),
                named.join(", ")
            );
            let next = "`preauth-server endpoint rotate` for their companies, or restore a backup";
            report.failed(KEYS, &found, Some(next));
        }
        Ok(_) if !is_compared && (path.exists() || !config.database_url.is_postgres()) => {
            report.warning(
                KEYS,
                "not compared with the signing secrets of the database, which could not be read",
                "repeat this when the database answers and has this build's schema",
            );
        }
        Ok(_) if vault.is_some() => {
            let found = format!("they open all {} signing secrets in force", secrets.len());
            report.ok(KEYS, &found);
        }
        Ok(_) if config.master_key_is_given => {}
        Ok(_) if config.database_url.is_postgres() => {
            let found = format!("there is no master key file {}", path.display());
            report.failed(KEYS, &found, Some(MAKE_KEY));
        }
        Ok(_) => report.ok(KEYS, "the first start makes one"),
    }
}
