//! `adopt`: assigns a database to this deployment, so that webhooks and mails are sent from it.

use clap::Args;
use preauth_core::value::Timestamp;
use serde::Serialize;

use crate::admin::confirm;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::hold::DeploymentId;
use crate::language::{Language, Text, texts};
use crate::stdout;
use crate::store::{self, Stores};

use super::CliError;
use super::serve::ServeArgs;

/// Counting of overdue offers stops here.
const COUNT_LIMIT: u32 = 10_000;

const NOBODY: Text = Text::new("nobody yet", "ninguém ainda");

texts! {
    deployment(id: &DeploymentId) {
        en: "deployment {id}",
        pt: "implantação {id}",
    }
    question(whose: &str, waiting: u32, due: u32, mails: u32, paused: u32, offers: usize) {
        en: "This database belongs to {whose}. Make it this deployment's? A server that works on it sends {waiting} deliveries ({due} of them at once, the others at their next attempt) and {mails} mails, some of which may have gone out before; {paused} deliveries more wait for paused endpoints. {offers} overdue offers expire at once.",
        pt: "Este banco de dados pertence a: {whose}. Passá-lo para esta implantação? Um servidor que o use envia {waiting} entregas ({due} delas já, as outras na próxima tentativa) e {mails} e-mails, e parte disso pode já ter saído; outras {paused} entregas esperam por endpoints pausados. {offers} ofertas vencidas expiram já.",
    }
    adopted(id: &DeploymentId) {
        en: "the database belongs to deployment {id} now; a server that runs on it acts within 5 s",
        pt: "o banco de dados agora pertence à implantação {id}; um servidor que o usa passa a agir em até 5 s",
    }
}

#[derive(Debug, Args)]
pub(super) struct AdoptArgs {
    /// Go on without asking.
    #[arg(long)]
    yes: bool,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

/// The actions of a server that runs on the database.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Consequences {
    /// Those that go out at once.
    due_deliveries: u32,
    /// All that go out, also those whose next attempt is later.
    waiting_deliveries: u32,
    /// Those that go out when their endpoint is resumed.
    paused_deliveries: u32,
    staged_mails: u32,
    overdue_offers: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    deployment_id: String,
    #[serde(flatten)]
    consequences: Consequences,
}

pub(super) async fn run(args: &AdoptArgs, language: Language) -> Result<(), CliError> {
    let config = Config::from_layers(&args.serve.layers())?;
    // Opening would make the file of a mistyped path, and adopt that.
    store::pending_steps(&config.database_url).await?;
    let stores = store::open(&config.database_url).await?;
    let done = adopt(args, &config, &stores, language).await;
    stores.lifecycle.close().await;
    done
}

async fn adopt(
    args: &AdoptArgs,
    config: &Config,
    stores: &Stores,
    language: Language,
) -> Result<(), CliError> {
    let consequences = Consequences::of(stores).await?;
    let owner = stores.identity.deployment().await?;
    let whose = owner.map_or_else(
        || NOBODY.of(language).to_owned(),
        |owner| deployment(language, &owner.id),
    );
    if !args.yes {
        confirm(&consequences.question(language, &whose), language)?;
    }
    let given = config.deployment.clone();
    let is_given = given.is_some();
    let id = given.unwrap_or_else(DeploymentId::random);
    stores.identity.adopt(&id, is_given).await?;
    if args.json {
        let outcome = Outcome {
            deployment_id: id.to_string(),
            consequences,
        };
        stdout::print(&serde_json::to_string(&outcome)?)?;
    } else {
        stdout::print(&adopted(language, &id))?;
    }
    Ok(())
}

impl Consequences {
    async fn of(stores: &Stores) -> Result<Self, CliError> {
        let database = stores.lifecycle.moments().await?.now;
        let now = database.unwrap_or_else(|| SystemClock.now());
        let waiting = stores.watch.waiting(now).await?;
        let in_the_end = stores.watch.waiting(Timestamp::MAX).await?;
        let overdue = stores.store.load_overdue(now, COUNT_LIMIT).await?;
        Ok(Self {
            due_deliveries: waiting.due_deliveries,
            waiting_deliveries: in_the_end.due_deliveries,
            paused_deliveries: waiting.paused_deliveries,
            staged_mails: waiting.staged_mails,
            overdue_offers: overdue.len(),
        })
    }

    fn question(&self, language: Language, whose: &str) -> String {
        let Self {
            due_deliveries,
            waiting_deliveries,
            paused_deliveries,
            staged_mails,
            overdue_offers,
        } = *self;
        question(
            language,
            whose,
            waiting_deliveries,
            due_deliveries,
            staged_mails,
            paused_deliveries,
            overdue_offers,
        )
    }
}
