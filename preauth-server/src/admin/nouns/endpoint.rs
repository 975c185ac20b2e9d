//! `endpoint`: the endpoint that receives a head office's events.

use clap::{Args, Subcommand};
use preauth_core::value::{CompanyId, EventType, EventTypeSet};
use serde_json::Value;

use crate::admin::Failure;
use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::once::Once;
use crate::admin::output::{Field, Section, View};
use crate::admin::session::Session;
use crate::http::platform::webhook_endpoint::{Rotation, WantedEndpoint};

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
        /// Where events go.
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
    /// Send what was kept, and what comes.
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

const ENDPOINT: View = View {
    fields: &[
        Field::whole("id", "/id"),
        Field::whole("company", "/companyId"),
        Field::text("URL", "/url"),
        Field::status("status", "/status"),
        Field::moment("paused", "/pausedAt"),
        Field::moment("created", "/createdAt"),
        Field::moment("last success", "/lastSuccessAt"),
        Field::text("events", "/events"),
    ],
    sections: &[Section::Secret {
        title: "signing secret",
        pointer: "/secret",
    }],
};

impl Run for EndpointCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let path = path(session.company(self.company()).await?);
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
                    let question = about(
                        "Replace the signing secret of",
                        "Its receiver refuses events until it has the new one.",
                    );
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
                let question = about("Delete", "Deliveries that wait for it end as failed.");
                session.confirm(Call::get(&*path), question).await?;
                session
                    .end(Call::delete(path), "the endpoint is deleted")
                    .await
            }
        }
    }
}

impl EndpointCommand {
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

fn about(verb: &'static str, consequence: &'static str) -> impl FnOnce(&Value) -> String {
    move |endpoint| {
        let url = Field::text("", "/url").read(endpoint);
        format!("{verb} {url}? {consequence}")
    }
}
