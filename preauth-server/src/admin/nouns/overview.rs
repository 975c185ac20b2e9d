//! `overview`: what needs attention.

use clap::Subcommand;

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::output::{Field, Section, Shown as _, View, table};
use crate::admin::session::Session;
use crate::http::platform::overview::{AttentionShape, CompanyAttentionShape, EndingKeyShape};
use crate::labels;
use crate::language::Text;

use super::Run;

/// Commands over all companies.
#[derive(Debug, Subcommand)]
pub(crate) enum OverviewCommand {
    /// Show what somebody should look at: endpoints that fail, mails that are held, keys that end.
    #[command(after_help = "Example:\n  preauth-server overview attention")]
    Attention,
}

const ATTENTION: View<AttentionShape> = View {
    fields: &[
        Field::new(
            Text::new(
                "deliveries after a failed attempt",
                "entregas depois de uma falha",
            ),
            |it| it.retried_deliveries.cell(),
        ),
        Field::new(
            Text::new("overdue deliveries", "entregas atrasadas"),
            |it| it.overdue_deliveries.cell(),
        ),
        Field::new(
            Text::new(
                "deliveries given up in 24 h",
                "entregas abandonadas em 24 h",
            ),
            |it| it.failed_deliveries.cell(),
        ),
        Field::new(Text::new("held mails", "e-mails retidos"), |it| {
            it.held_mails.cell()
        }),
        Field::new(
            Text::new("mails given up in 24 h", "e-mails abandonados em 24 h"),
            |it| it.failed_mails.cell(),
        ),
    ],
    sections: &[
        Section::Table {
            title: Text::new("Failing endpoints", "Endpoints com falha"),
            table: |it, screen| table(COMPANIES, &it.failing_endpoints, screen),
        },
        Section::Table {
            title: Text::new("Paused endpoints", "Endpoints pausados"),
            table: |it, screen| table(COMPANIES, &it.paused_endpoints, screen),
        },
        Section::Table {
            title: Text::new(
                "Keys that end within 30 days",
                "Chaves que vencem em 30 dias",
            ),
            table: |it, screen| table(KEYS, &it.ending_keys, screen),
        },
    ],
};

const COMPANIES: &[Field<CompanyAttentionShape>] = &[
    Field::new(labels::COMPANY, |it| it.company_id.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(Text::new("since", "desde"), |it| it.since.cell()),
];

const KEYS: &[Field<EndingKeyShape>] = &[
    Field::new(labels::KEY, |it| it.id.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(labels::COMPANY, |it| it.company_id.cell()),
    Field::new(labels::EXPIRES, |it| it.expires_at.cell()),
];

impl Run for OverviewCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Attention => session.show(Call::get("attention"), &ATTENTION).await,
        }
    }
}
