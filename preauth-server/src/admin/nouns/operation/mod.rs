//! `operation`: offers and advances, and every step of their life.

mod action;
mod advance;
mod invoice_file;

use clap::Subcommand;
use preauth_core::value::{ExternalReference, OperationId, Status};

use crate::admin::Failure;
use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::output::{Field, Section, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;

use super::Run;
use action::Action;
use advance::Advance;
use invoice_file::SaveFile;

/// Commands on operations.
#[derive(Debug, Subcommand)]
pub(crate) enum OperationCommand {
    /// Show an operation with its history.
    #[command(after_help = "Example:\n  preauth-server operation show 12")]
    Show {
        /// Id of the operation.
        #[arg(value_parser = OperationId::parse)]
        operation: OperationId,
    },
    /// List operations, the newest first.
    #[command(after_help = "Example:\n  preauth-server operation list --status to_pay,to_bill")]
    List {
        /// Only those that stand so; may be repeated.
        #[arg(long, value_delimiter = ',', value_parser = among(Status::ALL), ignore_case = true)]
        status: Vec<Status>,
        /// Only those with exactly this external reference.
        #[arg(long, value_name = "TEXT", value_parser = ExternalReference::from_stored)]
        external_reference: Option<ExternalReference>,
        #[command(flatten)]
        paging: Paging,
    },
    /// Advance an invoice directly, without an offer, as a registered supplier does.
    #[command(after_help = "Example:\n  preauth-server operation advance \
                            --payer 45.723.001/0001-00 --supplier 11.444.777/0001-61 \
                            --amount 12500.50 --due-date 2027-01-20 --number NF-1")]
    Advance(Advance),
    /// Save the invoice file that came with an offer, byte for byte.
    #[command(after_help = "Example:\n  preauth-server operation file 12 --output nota.pdf")]
    File(SaveFile),
    #[command(flatten)]
    Action(Action),
}

const OPERATION: View = View {
    fields: &[
        Field::whole("operation", "/id"),
        Field::status("status", "/status"),
        Field::text("origin", "/origin"),
        Field::text("payer", "/payer/name"),
        Field::cnpj("payer CNPJ", "/payer/cnpj"),
        Field::text("supplier", "/supplier/name"),
        Field::cnpj("supplier CNPJ", "/supplier/cnpj"),
        Field::text("invoice", "/invoice/number"),
        Field::money("amount", "/invoice/amount"),
        Field::money("withheld tax", "/invoice/withheldTaxAmount"),
        Field::money("net amount", "/netAmount"),
        Field::text("due date", "/invoice/dueDate"),
        Field::text("boleto due date", "/boletoDueDate"),
        Field::text("invoice file", "/invoiceFile/name"),
        Field::text("external reference", "/externalReference"),
        Field::text("closed because", "/reason"),
        Field::text("closed at stage", "/stage"),
        Field::moment("created", "/createdAt"),
        Field::moment("expires", "/expiresAt"),
    ],
    sections: &[Section::Table {
        title: "History",
        pointer: "/history",
        columns: &[
            Field::moment("at", "/at"),
            Field::whole("event", "/type"),
            Field::whole("by", "/actor/kind"),
            Field::text("key", "/actor/apiKeyId"),
            Field::text("user", "/actor/userId"),
        ],
    }],
};

const COLUMNS: &[Field] = &[
    Field::whole("id", "/id"),
    Field::status("status", "/status"),
    Field::text("payer", "/payer/name"),
    Field::text("supplier", "/supplier/name"),
    Field::text("invoice", "/invoice/number"),
    Field::money("amount", "/invoice/amount"),
    Field::whole("due date", "/invoice/dueDate"),
];

impl Run for OperationCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Show { operation } => {
                let call = Call::get(format!("operations/{operation}"));
                session.show(call, &OPERATION).await
            }
            Self::List {
                status,
                external_reference,
                paging,
            } => {
                let call = status
                    .iter()
                    .fold(Call::get("operations"), |call, status| {
                        call.query("status", Some(status))
                    })
                    .query("externalReference", external_reference);
                session.list(call, &paging, COLUMNS).await
            }
            Self::Advance(advance) => advance.run(session).await,
            Self::File(file) => file.run(session).await,
            Self::Action(action) => action.run(session).await,
        }
    }
}
