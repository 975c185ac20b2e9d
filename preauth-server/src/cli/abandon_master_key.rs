//! `abandon-master-key`: recovery when a master key is lost for good.
//!
//! A server that lacks a needed key does not start, so this command works on the database itself.

use std::collections::BTreeSet;

use clap::Args;
use serde::Serialize;

use crate::admin::confirm;
use crate::config::Config;
use crate::directory::{Abandoned, Directory};
use crate::language::{Language, Text, texts};
use crate::printable::printable;
use crate::secret::{self, KeyUsage, MasterKeyId, Vault};
use crate::stdout;
use crate::store::{self, Stores};

use super::moment::moment;
use super::serve::ServeArgs;
use super::{CliError, LocalizedError};

#[derive(Debug, Args)]
pub(super) struct AbandonArgs {
    /// The lost keys, as named by the server that does not start.
    #[arg(required = true, value_name = "KEY_ID")]
    keys: Vec<MasterKeyId>,
    /// Go on without asking.
    #[arg(long)]
    yes: bool,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

const PAUSED: Text = Text::new(
    "paused, events are kept; once the server runs, each needs a new secret, which its receiver must \
     have before it is resumed:",
    "pausados, com os eventos guardados; com o servidor em execução, cada um precisa de um segredo novo, \
     que o receptor deve ter antes da retomada:",
);
const STILL_SIGNED: Text = Text::new(
    "signed by their other secret alone from now on:",
    "assinados só pelo outro segredo daqui em diante:",
);

texts! {
    known_key(key: MasterKeyId) {
        en: "this server has master key {key}, so nothing is lost; `master-key reencrypt` encrypts its secrets with the current key",
        pt: "este servidor tem a chave mestra {key}, e nada se perdeu; `master-key reencrypt` criptografa de novo, com a chave atual, o que ela protege",
    }
    unneeded_key(key: MasterKeyId) {
        en: "no signing secret in force needs master key {key}",
        pt: "nenhum segredo de assinatura em vigor depende da chave mestra {key}",
    }
    question(secrets: u64) {
        en: "End the signing secrets that need a lost master key ({secrets} of them)? Endpoints without another one are paused, and keep their events until each has a new secret. Finding the key later does not bring the old secrets back. No running server may still have the key.",
        pt: "Encerrar os segredos de assinatura que dependem de uma chave mestra perdida ({secrets} ao todo)? Os endpoints sem outro segredo são pausados e guardam os eventos até cada um ter um novo. Mesmo que a chave reapareça, os antigos não voltam. Nenhum servidor em execução pode ainda ter a chave.",
    }
    given_up(secrets: u64) {
        en: "signing secrets given up: {secrets}",
        pt: "segredos de assinatura encerrados: {secrets}",
    }
}

pub(super) async fn run(args: &AbandonArgs, language: Language) -> Result<(), CliError> {
    let config = Config::from_layers(&args.serve.layers())?;
    // Opening would make the file of a mistyped path.
    store::pending_steps(&config.database_url).await?;
    let stores = store::open(&config.database_url).await?;
    let done = abandon(args, &config, &stores, language).await;
    stores.lifecycle.close().await;
    done
}

async fn abandon(
    args: &AbandonArgs,
    config: &Config,
    stores: &Stores,
    language: Language,
) -> Result<(), CliError> {
    let directory = &*stores.directory;
    let keys: BTreeSet<_> = args.keys.iter().copied().collect();
    let keys: Vec<_> = keys.into_iter().collect();
    let now = moment(&*stores.lifecycle, config.trusts_clock).await?;
    let usage = secret::key_usage(directory, now).await?;
    let secrets = validate(&keys, config, &usage, language)?;
    if !args.yes {
        confirm(&question(language, secrets), language)?;
    }
    let abandoned = secret::abandon(&keys, directory, now).await?;
    let outcome = Outcome::of(&abandoned, directory).await?;
    if args.json {
        stdout::print(&serde_json::to_string(&outcome)?)?;
    } else {
        stdout::print(&outcome.text(language))?;
    }
    Ok(())
}

/// The number of secrets lost with these keys, each of which must be needed and unknown.
fn validate(
    keys: &[MasterKeyId],
    config: &Config,
    key_usage: &KeyUsage,
    language: Language,
) -> Result<u64, CliError> {
    let known = known(config)?;
    let mut secrets: u64 = 0;
    for key in keys {
        if known.contains(key) {
            return Err(LocalizedError(known_key(language, *key)).into());
        }
        let needed = key_usage.by_key.get(key);
        let needed = needed.ok_or_else(|| LocalizedError(unneeded_key(language, *key)))?;
        secrets = secrets.saturating_add(*needed);
    }
    Ok(secrets)
}

/// The keys of the file, if there is one; the server creates its own when it starts.
fn known(config: &Config) -> Result<Vec<MasterKeyId>, CliError> {
    let path = &config.master_key_file;
    if !config.master_key_is_given && !path.exists() {
        return Ok(Vec::new());
    }
    Ok(Vault::open(path)?.keys().collect())
}

/// The result, and the remaining steps.
#[derive(Debug, Serialize)]
struct Outcome {
    secrets: u64,
    endpoints: Vec<AffectedEndpoint>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AffectedEndpoint {
    company_id: String,
    cnpj: String,
    name: String,
    secrets: u64,
    needs_rotation: bool,
}

impl Outcome {
    async fn of(abandoned: &[Abandoned], directory: &dyn Directory) -> Result<Self, CliError> {
        let mut endpoints = Vec::new();
        for abandoned in abandoned {
            let company = directory.company(abandoned.company).await?;
            let company = company.ok_or("an endpoint belongs to no company")?;
            endpoints.push(AffectedEndpoint {
                company_id: abandoned.company.to_string(),
                cnpj: company.cnpj.to_string(),
                name: company.name.to_string(),
                secrets: abandoned.secrets,
                needs_rotation: !abandoned.still_signs,
            });
        }
        let secrets = abandoned.iter().map(|abandoned| abandoned.secrets);
        Ok(Self {
            secrets: secrets.fold(0, u64::saturating_add),
            endpoints,
        })
    }

    fn text(&self, language: Language) -> String {
        let mut text = given_up(language, self.secrets) + "\n";
        let (paused, signing): (Vec<&AffectedEndpoint>, Vec<_>) =
            self.endpoints.iter().partition(|loss| loss.needs_rotation);
        if !paused.is_empty() {
            text.extend(["\n", PAUSED.of(language), "\n"]);
        }
        for AffectedEndpoint { cnpj, name, .. } in paused {
            let command = "    preauth-server endpoint";
            let lines = format!(
                "  {}\n{command} rotate {cnpj}\n{command} resume {cnpj}\n",
                printable(name)
            );
            text.push_str(&lines);
        }
        if !signing.is_empty() {
            text.extend(["\n", STILL_SIGNED.of(language), "\n"]);
        }
        for AffectedEndpoint { cnpj, name, .. } in signing {
            let line = format!("  {cnpj} {}\n", printable(name));
            text.push_str(&line);
        }
        text
    }
}
