//! `delivery`: the deliveries of webhooks.

use clap::Subcommand;
use preauth_core::value::{DeliveryId, EventType, OperationId, Timestamp};

use crate::admin::Failure;
use crate::admin::arguments::{among, moment};
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, Section, Shown as _, View, table};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::directory::{DeliveryStatus, DeliveryWait};
use crate::http::platform::deliveries::{AttemptShape, DeliveryShape, ResendRequest, ResentShape};
use crate::labels;

use super::Run;
use super::resend_range::RangeArgs;

/// Commands on deliveries.
#[derive(Debug, Subcommand)]
pub(crate) enum DeliveryCommand {
    /// List the deliveries of a head office, or of all of them, the newest first.
    #[command(
        after_help = "Example:\n  preauth-server delivery list 45.723.001/0001-00 \
                            --status failed --event anticipation.paid"
    )]
    List {
        /// Id or CNPJ of the head office; everybody's when left out.
        #[arg(value_parser = CompanyRef::parse)]
        company: Option<CompanyRef>,
        /// Filter by status.
        #[arg(long, value_parser = among(DeliveryStatus::ALL), ignore_case = true)]
        status: Option<DeliveryStatus>,
        /// Only those of this event type.
        #[arg(long, value_name = "TYPE", value_parser = among(EventType::ALL),
              hide_possible_values = true)]
        event: Option<EventType>,
        /// Only those that wait after a failed attempt, or that have been due for five minutes.
        #[arg(long, value_parser = among(DeliveryWait::ALL), ignore_case = true)]
        wait: Option<DeliveryWait>,
        /// Only those of this operation's events.
        #[arg(long, value_name = "ID", value_parser = OperationId::parse)]
        operation: Option<OperationId>,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show a delivery with every attempt and its body as sent.
    #[command(after_help = "Example:\n  preauth-server delivery show \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3")]
    Show {
        /// Id of the delivery.
        #[arg(value_parser = DeliveryId::parse)]
        delivery: DeliveryId,
    },
    /// Send a delivery again, at once, or now what waits for its next attempt; or all of a company in a range of time,
    /// also what was delivered.
    #[command(after_help = "Examples:\n  preauth-server delivery resend \
                      01a1fe3a-25a3-7ffb-8504-107e7be706e3\n  preauth-server delivery resend \
                      --company 45.723.001/0001-00 --since 2026-11-21T12:00:00Z --status delivered")]
    Resend {
        /// Id of the delivery.
        #[arg(value_parser = DeliveryId::parse, required_unless_present = "company",
              conflicts_with = "company")]
        delivery: Option<DeliveryId>,
        #[command(flatten)]
        range: RangeArgs,
    },
    /// Send again, at once, whatever has failed since a moment.
    #[command(after_help = "Example:\n  preauth-server delivery resend-failed \
                            45.723.001/0001-00 --since 2026-11-21T12:00:00Z")]
    ResendFailed {
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// The moment, in UTC.
        #[arg(long, value_name = "MOMENT", value_parser = moment)]
        since: Timestamp,
    },
}

const RESENT: View<ResentShape> = View::of(&[Field::new(labels::RESENT, |it| it.count.cell())]);

pub(super) const DELIVERY: View<DeliveryShape> = View {
    fields: &[
        Field::new(labels::ID, |it| it.id.cell()),
        Field::new(labels::EVENT, |it| it.event_id.cell()),
        Field::new(labels::TYPE, |it| it.event_type.cell()),
        Field::new(labels::OPERATION, |it| it.operation_id.cell()),
        Field::new(labels::STATUS, |it| it.status.cell()),
        Field::new(labels::CREATED, |it| it.created_at.cell()),
        Field::new(labels::NEXT_ATTEMPT, |it| it.next_attempt_at.cell()),
    ],
    sections: &[
        Section::Table {
            title: labels::ATTEMPTS,
            table: |it, screen| table(ATTEMPTS, &it.attempts, screen),
        },
        Section::Text {
            title: labels::BODY,
            text: |it| &it.body,
        },
    ],
};

const ATTEMPTS: &[Field<AttemptShape>] = &[
    Field::new(labels::ATTEMPT, |it| it.number.cell()),
    Field::new(labels::AT, |it| it.at.cell()),
    Field::new(labels::BY, |it| it.trigger.cell()),
    Field::new(labels::MILLISECONDS, |it| it.duration_ms.cell()),
    Field::new(labels::HTTP_STATUS, |it| it.http_status.cell()),
    Field::new(labels::ERROR, |it| it.error.cell()),
    Field::new(labels::ANSWER, |it| it.response_body.cell()),
];

const COLUMNS: &[Field<DeliveryShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::STATUS, |it| it.status.cell()),
    Field::new(labels::TYPE, |it| it.event_type.cell().cut()),
    Field::new(labels::CREATED, |it| it.created_at.cell()),
    Field::new(labels::NEXT_ATTEMPT, |it| it.next_attempt_at.cell()),
];

impl Run for DeliveryCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::List {
                company,
                status,
                event,
                wait,
                operation,
                paging,
            } => {
                let path = match company {
                    Some(company) => {
                        let company = session.company(&company).await?;
                        format!("companies/{company}/deliveries")
                    }
                    None => "deliveries".to_owned(),
                };
                let call = Call::get(path)
                    .query("status", status)
                    .query("eventType", event)
                    .query("wait", wait)
                    .query("operationId", operation);
                session.list(call, &paging, COLUMNS).await
            }
            Self::Show { delivery } => {
                let call = Call::get(format!("deliveries/{delivery}"));
                session.show(call, &DELIVERY).await
            }
            Self::Resend {
                delivery: Some(delivery),
                ..
            } => {
                let call = Call::post(format!("deliveries/{delivery}/resend"));
                session.show(call, &DELIVERY).await
            }
            Self::Resend {
                delivery: None,
                range,
            } => range.run(session).await,
            Self::ResendFailed { company, since } => {
                let company = session.company(&company).await?;
                let call = Call::post(format!("companies/{company}/deliveries/resend"));
                let call = call.body(ResendRequest { since });
                session.show(call, &RESENT).await
            }
        }
    }
}
