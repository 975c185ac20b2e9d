//! `operation`: offers and advances, and every step of their life.

mod action;
mod advance;
mod invoice_file;

use clap::Subcommand;
use preauth_core::value::{Cnpj, ExternalReference, InvoiceNumber, OperationId, Status, Timestamp};

use crate::admin::Failure;
use crate::admin::arguments::{among, moment};
use crate::admin::call::Call;
use crate::admin::output::{Field, Section, Shown as _, View, table};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::operations::{
    FileShape, HistoryShape, OperationDetails, OperationShape,
};
use crate::labels;

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
        /// Filter by status; may be repeated.
        #[arg(long, value_delimiter = ',', value_parser = among(Status::ALL), ignore_case = true)]
        status: Vec<Status>,
        /// Only those with exactly this external reference.
        #[arg(long, value_name = "TEXT", value_parser = ExternalReference::from_stored)]
        external_reference: Option<ExternalReference>,
        /// Only those whose payer or supplier has this CNPJ.
        #[arg(long, value_parser = Cnpj::parse)]
        cnpj: Option<Cnpj>,
        /// Only those whose invoice has exactly this number.
        #[arg(long, value_name = "TEXT", value_parser = InvoiceNumber::from_stored)]
        number: Option<InvoiceNumber>,
        /// Only those begun at this moment or later, in UTC.
        #[arg(long, value_name = "MOMENT", value_parser = moment)]
        from: Option<Timestamp>,
        /// Only those begun before this moment, in UTC.
        #[arg(long, value_name = "MOMENT", value_parser = moment)]
        until: Option<Timestamp>,
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

const OPERATION: View<OperationShape> = View::of(OperationShape::FIELDS);

const DETAILS: View<OperationDetails> = View {
    fields: OperationDetails::FIELDS,
    sections: &[Section::Table {
        title: labels::HISTORY,
        table: |it, screen| table(HISTORY, &it.history, screen),
    }],
};

const HISTORY: &[Field<HistoryShape>] = &[
    Field::new(labels::AT, |it| it.at.cell()),
    Field::new(labels::EVENT, |it| it.r#type.cell()),
    Field::new(labels::BY, |it| it.actor.kind.cell()),
    Field::new(labels::OPERATOR, |it| {
        it.operator.as_ref().map(|it| &it.name).cell()
    }),
    Field::new(labels::KEY, |it| it.actor.api_key_id.cell()),
    Field::new(labels::USER, |it| it.actor.user_id.cell()),
];

const COLUMNS: &[Field<OperationShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::STATUS, |it| it.status.cell()),
    Field::new(labels::PAYER, |it| it.payer.name.cell()),
    Field::new(labels::SUPPLIER, |it| it.supplier.name.cell()),
    Field::new(labels::INVOICE, |it| it.invoice.number.cell()),
    Field::new(labels::AMOUNT, |it| it.invoice.amount.cell()),
    Field::new(labels::DUE_DATE, |it| it.invoice.due_date.cell()),
];

/// An answer that shows an operation.
trait ShowsOperation: Sized + 'static {
    const FIELDS: &'static [Field<Self>] = &[
        Field::new(labels::OPERATION, |it| it.operation().id.cell()),
        Field::new(labels::STATUS, |it| it.operation().status.cell()),
        Field::new(labels::VERSION, |it| it.operation().version.cell()),
        Field::new(labels::ORIGIN, |it| it.operation().origin.cell()),
        Field::new(labels::PAYER, |it| it.operation().payer.name.cell()),
        Field::new(labels::PAYER_CNPJ, |it| it.operation().payer.cnpj.cell()),
        Field::new(labels::SUPPLIER, |it| it.operation().supplier.name.cell()),
        Field::new(labels::SUPPLIER_CNPJ, |it| {
            it.operation().supplier.cnpj.cell()
        }),
        Field::new(labels::INVOICE, |it| it.operation().invoice.number.cell()),
        Field::new(labels::AMOUNT, |it| it.operation().invoice.amount.cell()),
        Field::new(labels::WITHHELD_TAX, |it| {
            it.operation().invoice.withheld_tax_amount.cell()
        }),
        Field::new(labels::NET_AMOUNT, |it| it.operation().net_amount.cell()),
        Field::new(labels::DUE_DATE, |it| {
            it.operation().invoice.due_date.cell()
        }),
        Field::new(labels::BOLETO_DUE_DATE, |it| {
            it.operation().boleto_due_date.cell()
        }),
        Field::new(labels::INVOICE_FILE, |it| {
            it.file().map(|it| &it.name).cell()
        }),
        Field::new(labels::EXTERNAL_REFERENCE, |it| {
            it.operation().external_reference.cell()
        }),
        Field::new(labels::CLOSED_BECAUSE, |it| it.operation().reason.cell()),
        Field::new(labels::CLOSED_AT_STAGE, |it| it.operation().stage.cell()),
        Field::new(labels::CREATED, |it| it.operation().created_at.cell()),
        Field::new(labels::EXPIRES, |it| it.operation().expires_at.cell()),
    ];

    fn operation(&self) -> &OperationShape;

    /// The invoice file, which only the details have.
    fn file(&self) -> Option<&FileShape>;
}

impl ShowsOperation for OperationShape {
    fn operation(&self) -> &Self {
        self
    }

    fn file(&self) -> Option<&FileShape> {
        None
    }
}

impl ShowsOperation for OperationDetails {
    fn operation(&self) -> &OperationShape {
        &self.operation
    }

    fn file(&self) -> Option<&FileShape> {
        self.invoice_file.as_ref()
    }
}

impl Run for OperationCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Show { operation } => {
                let call = Call::get(format!("operations/{operation}"));
                session.show(call, &DETAILS).await
            }
            Self::List {
                status,
                external_reference,
                cnpj,
                number,
                from,
                until,
                paging,
            } => {
                let call = status
                    .iter()
                    .fold(Call::get("operations"), |call, status| {
                        call.query("status", Some(status))
                    })
                    .query("externalReference", external_reference)
                    .query("cnpj", cnpj.as_ref().map(Cnpj::as_str))
                    .query("invoiceNumber", number)
                    .query("from", from)
                    .query("until", until);
                session.list(call, &paging, COLUMNS).await
            }
            Self::Advance(advance) => advance.run(session).await,
            Self::File(file) => file.run(session).await,
            Self::Action(action) => action.run(session).await,
        }
    }
}
