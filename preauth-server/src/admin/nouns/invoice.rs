//! `invoice`: invoices that suppliers issued and the platform received.

use clap::Subcommand;
use preauth_core::value::{Cnpj, DueDate, InvoiceId, InvoiceNumber, Money};

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::once::Once;
use crate::admin::output::{Field, Shown as _, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::invoices::{InvoiceShape, NewInvoice, NewInvoiceData};
use crate::labels;
use crate::typed_amount;

use super::Run;

/// Commands on received invoices.
#[derive(Debug, Subcommand)]
pub(crate) enum InvoiceCommand {
    /// Record that an invoice was received; its payer receives an event.
    #[command(after_help = "Example:\n  preauth-server invoice receive \
                            --payer 45.723.001/0001-00 --supplier 11.444.777/0001-61 \
                            --amount 12500.50 --due-date 2027-01-20 --number NF-1")]
    Receive {
        /// Id or CNPJ of the construction company that will pay it.
        #[arg(long, value_name = "COMPANY", value_parser = CompanyRef::parse)]
        payer: CompanyRef,
        /// CNPJ of the supplier.
        #[arg(long, value_name = "CNPJ", value_parser = Cnpj::parse)]
        supplier: Cnpj,
        /// Gross amount, in reais.
        #[arg(long, value_name = "REAIS", value_parser = typed_amount::parse)]
        amount: Money,
        /// When it falls due.
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = DueDate::parse)]
        due_date: DueDate,
        /// Its number.
        #[arg(long, value_name = "TEXT", value_parser = InvoiceNumber::parse)]
        number: InvoiceNumber,
        #[command(flatten)]
        once: Once,
    },
    /// List received invoices, the newest first.
    #[command(after_help = "Example:\n  preauth-server invoice list --all")]
    List {
        #[command(flatten)]
        paging: Paging,
    },
    /// Show a received invoice.
    #[command(after_help = "Example:\n  preauth-server invoice show 5")]
    Show {
        /// Id of the received invoice.
        #[arg(value_parser = InvoiceId::parse)]
        invoice: InvoiceId,
    },
}

const INVOICE: View<InvoiceShape> = View::of(&[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::PAYER, |it| it.payer.name.cell()),
    Field::new(labels::PAYER_CNPJ, |it| it.payer.cnpj.cell()),
    Field::new(labels::SUPPLIER, |it| it.supplier.name.cell()),
    Field::new(labels::SUPPLIER_CNPJ, |it| it.supplier.cnpj.cell()),
    Field::new(labels::NUMBER, |it| it.invoice.number.cell()),
    Field::new(labels::AMOUNT, |it| it.invoice.amount.cell()),
    Field::new(labels::DUE_DATE, |it| it.invoice.due_date.cell()),
    Field::new(labels::RECEIVED, |it| it.created_at.cell()),
]);

const COLUMNS: &[Field<InvoiceShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::PAYER, |it| it.payer.name.cell()),
    Field::new(labels::SUPPLIER, |it| it.supplier.name.cell()),
    Field::new(labels::NUMBER, |it| it.invoice.number.cell()),
    Field::new(labels::AMOUNT, |it| it.invoice.amount.cell()),
    Field::new(labels::DUE_DATE, |it| it.invoice.due_date.cell()),
];

impl Run for InvoiceCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Receive {
                payer,
                supplier,
                amount,
                due_date,
                number,
                once,
            } => {
                let payer = session.company(&payer).await?;
                let call = once.post("invoices").body(NewInvoice {
                    payer_company_id: payer,
                    supplier_cnpj: supplier,
                    invoice: NewInvoiceData {
                        amount,
                        due_date,
                        number,
                    },
                });
                session.show(call, &INVOICE).await
            }
            Self::List { paging } => session.list(Call::get("invoices"), &paging, COLUMNS).await,
            Self::Show { invoice } => {
                let call = Call::get(format!("invoices/{invoice}"));
                session.show(call, &INVOICE).await
            }
        }
    }
}
