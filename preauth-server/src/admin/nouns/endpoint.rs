//! `endpoint`: the endpoint that receives a head office's events.

use clap::{Args, Subcommand};
use preauth_core::value::{CompanyId, EventType, EventTypeSet};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::failure::{Failure, Refusal};
use crate::admin::once::Once;
use crate::admin::output::{Field, Section, Shown as _, View};
use crate::admin::session::Session;
use crate::http::platform::webhook_endpoint::{
    EndpointShape, EndpointWithSecret, Rotation, WantedEndpoint,
};
use crate::labels;
use crate::language::{Language, Text, texts};
use crate::printable::printable;

use super::Run;
use super::delivery::DELIVERY;

/// Commands on webhook endpoints.
#[derive(Debug, Subcommand)]
pub(crate) enum EndpointCommand {
    /// Register the endpoint, whose signing secret is shown this once; or change its URL, and its events if
    /// any are named.
    #[command(
        after_help = "Example:\n  preauth-server endpoint set 45.723.001/0001-00 \
                            https://erp.azul.com.br/webhooks \
                            --event pre_authorization.declined,anticipation.requested"
    )]
    Set {
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// URL that receives the events.
        url: String,
        #[command(flatten)]
        events: Events,
    },
    /// Show the endpoint.
    #[command(after_help = "Example:\n  preauth-server endpoint show 45.723.001/0001-00")]
    Show(Company),
    /// Keep events from now on instead of sending them.
    #[command(after_help = "Example:\n  preauth-server endpoint pause 45.723.001/0001-00")]
    Pause(Company),
    /// Resume deliveries: those that wait, and new ones.
    #[command(after_help = "Example:\n  preauth-server endpoint resume 45.723.001/0001-00")]
    Resume(Company),
    /// Replace the signing secret; the new one is shown this once. Asks for confirmation, unless the old one
    /// stays valid for a while.
    #[command(
        after_help = "Example:\n  preauth-server endpoint rotate 45.723.001/0001-00 \
                            --overlap-hours 24"
    )]
    Rotate {
        #[command(flatten)]
        company: Company,
        /// For how many hours the old secret signs, too: 0 to 168.
        #[arg(long, value_name = "HOURS", default_value_t = 0)]
        overlap_hours: u16,
    },
    /// Send a test event, signed like any other, whatever events were chosen.
    #[command(after_help = "Example:\n  preauth-server endpoint test 45.723.001/0001-00")]
    Test {
        #[command(flatten)]
        company: Company,
        #[command(flatten)]
        once: Once,
    },
    /// Remove the endpoint; deliveries that wait for it end as failed. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server endpoint delete 45.723.001/0001-00 --yes")]
    Delete(Company),
}

/// Whose endpoint.
#[derive(Debug, Args)]
pub(crate) struct Company {
    /// Id or CNPJ of the head office.
    #[arg(value_parser = CompanyRef::parse)]
    company: CompanyRef,
}

/// The events that the endpoint receives.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Events {
    /// A type of event that it receives; may be repeated. Needed to register; a change without it keeps the events.
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = among(EventType::ALL),
          hide_possible_values = true)]
    event: Vec<EventType>,
    /// It receives every event.
    #[arg(long)]
    all_events: bool,
}

const ENDPOINT: View<Shown> = View {
    fields: &[
        Field::new(labels::ID, |it| it.endpoint.id.cell()),
        Field::new(labels::COMPANY, |it| it.endpoint.company_id.cell()),
        Field::new(labels::URL, |it| it.endpoint.url.cell()),
        Field::new(labels::STATUS, |it| it.endpoint.status.cell()),
        Field::new(labels::PAUSED, |it| it.endpoint.paused_at.cell()),
        Field::new(labels::CREATED, |it| it.endpoint.created_at.cell()),
        Field::new(labels::LAST_SUCCESS, |it| {
            it.endpoint.last_success_at.cell()
        }),
        Field::new(labels::EARLIER_SECRET_UNTIL, |it| {
            it.endpoint.earlier_secret_until.cell()
        }),
        Field::new(labels::EVENTS, |it| it.endpoint.events.cell()),
    ],
    sections: &[Section::Secret {
        warning: Text::new(
            "The signing secret is shown this once; keep it now, nothing can show it again:",
            "O segredo de assinatura aparece só desta vez; guarde-o agora, não há como exibi-lo de novo:",
        ),
        secret: |it| it.secret.as_ref(),
    }],
};

const NO_ENDPOINT: Text = Text::new(
    "`endpoint set` registers the endpoint of a company; `company list` shows the companies",
    "`endpoint set` cadastra o endpoint de uma empresa; `company list` mostra as empresas",
);
const NO_EVENTS: Text = Text::new(
    "--event or --all-events is needed to register an endpoint",
    "para cadastrar um endpoint, use --event ou --all-events",
);
const DELETED: Text = Text::new("the endpoint is deleted", "o endpoint foi excluído");

texts! {
    replace_secret(url: &str) {
        en: "Replace the signing secret of {url}? Its receiver refuses events until it has the new one.",
        pt: "Substituir o segredo de assinatura de {url}? O receptor recusará os eventos até ter o novo.",
    }
    delete(url: &str) {
        en: "Delete {url}? Deliveries that wait for it end as failed.",
        pt: "Excluir {url}? As entregas pendentes terminam como FAILED.",
    }
}

/// An endpoint, with its signing secret if the answer has a new one.
struct Shown {
    endpoint: EndpointShape,
    secret: Option<String>,
}

impl<'de> Deserialize<'de> for Shown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let answer = Box::<RawValue>::deserialize(deserializer)?;
        if let Ok(EndpointWithSecret { endpoint, secret }) = serde_json::from_str(answer.get()) {
            let secret = Some(secret);
            return Ok(Self { endpoint, secret });
        }
        let endpoint = serde_json::from_str(answer.get()).map_err(D::Error::custom)?;
        let secret = None;
        Ok(Self { endpoint, secret })
    }
}

impl Run for EndpointCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let path = path(session.company(self.company()).await?);
        let done = self.run_at(path, session).await;
        let language = session.language();
        done.map_err(|failure| {
            let is_absent = |it: &Refusal| it.code == "RESOURCE_NOT_FOUND";
            failure
                .advised(is_absent, NO_ENDPOINT.of(language))
                .advised(|it| it.names("events"), NO_EVENTS.of(language))
        })
    }
}

impl EndpointCommand {
    async fn run_at(self, path: String, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Set { url, events, .. } => {
                let events = events.chosen();
                let body = WantedEndpoint { url, events };
                session.show(Call::put(path).body(body), &ENDPOINT).await
            }
            Self::Show(_) => session.show(Call::get(path), &ENDPOINT).await,
            Self::Pause(_) => {
                let call = Call::post(format!("{path}/pause"));
                session.show(call, &ENDPOINT).await
            }
            Self::Resume(_) => {
                let call = Call::post(format!("{path}/resume"));
                session.show(call, &ENDPOINT).await
            }
            Self::Rotate { overlap_hours, .. } => {
                if overlap_hours == 0 {
                    let question = about(replace_secret);
                    session.confirm(Call::get(&*path), question).await?;
                }
                let call = Call::post(format!("{path}/rotate-secret"));
                let body = Rotation {
                    overlap_hours: Some(overlap_hours),
                };
                session.show(call.body(body), &ENDPOINT).await
            }
            Self::Test { once, .. } => {
                let call = once.post(format!("{path}/test"));
                session.show(call, &DELIVERY).await
            }
            Self::Delete(_) => {
                session.confirm(Call::get(&*path), about(delete)).await?;
                session.end(Call::delete(path), DELETED).await
            }
        }
    }

    fn company(&self) -> &CompanyRef {
        match self {
            Self::Set { company, .. }
            | Self::Show(Company { company })
            | Self::Pause(Company { company })
            | Self::Resume(Company { company })
            | Self::Test {
                company: Company { company },
                ..
            }
            | Self::Rotate {
                company: Company { company },
                ..
            }
            | Self::Delete(Company { company }) => company,
        }
    }
}

impl Events {
    fn chosen(&self) -> Option<EventTypeSet> {
        if self.all_events {
            return Some(EventTypeSet::all());
        }
        (!self.event.is_empty()).then(|| self.event.iter().copied().collect())
    }
}

fn path(company: CompanyId) -> String {
    format!("companies/{company}/webhook-endpoint")
}

/// A question with the endpoint's URL.
fn about(
    question: fn(Language, &str) -> String,
) -> impl FnOnce(Language, &EndpointShape) -> String {
    move |language, endpoint| question(language, &printable(&endpoint.url))
}
