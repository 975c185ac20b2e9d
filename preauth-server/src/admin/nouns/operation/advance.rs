//! `operation advance`: a direct advance.

use clap::Args;
use preauth_core::value::{Cnpj, DueDate, ExternalReference, InvoiceNumber, Money};

use crate::admin::Failure;
use crate::admin::company_ref::CompanyRef;
use crate::admin::once::Once;
use crate::admin::session::Session;
use crate::http::platform::operations::{NewDirectAdvance, NewInvoice};
use crate::typed_amount;

use super::OPERATION;

/// The invoice of an advance, its payer and its supplier.
#[derive(Debug, Args)]
pub(crate) struct Advance {
    /// Id or CNPJ of the construction company that will pay the invoice.
    #[arg(long, value_name = "COMPANY", value_parser = CompanyRef::parse)]
    payer: CompanyRef,
    /// CNPJ of the supplier.
    #[arg(long, value_name = "CNPJ", value_parser = Cnpj::parse)]
    supplier: Cnpj,
    /// Gross amount of the invoice, in reais.
    #[arg(long, value_name = "REAIS", value_parser = typed_amount::parse)]
    amount: Money,
    /// When the invoice falls due.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = DueDate::parse)]
    due_date: DueDate,
    /// Number of the invoice.
    #[arg(long, value_name = "TEXT", value_parser = InvoiceNumber::parse)]
    number: Option<InvoiceNumber>,
    /// Tax that the company withholds, in reais.
    #[arg(long, value_name = "REAIS", value_parser = typed_amount::parse)]
    withheld_tax_amount: Option<Money>,
    /// The ERP's own identifier.
    #[arg(long, value_name = "TEXT", value_parser = ExternalReference::parse)]
    external_reference: Option<ExternalReference>,
    #[command(flatten)]
    once: Once,
}

impl Advance {
    pub(super) async fn run(self, session: &Session) -> Result<(), Failure> {
        let payer = session.company(&self.payer).await?;
        let body = NewDirectAdvance {
            payer_company_id: payer,
            supplier_cnpj: self.supplier,
            invoice: NewInvoice {
                amount: self.amount,
                due_date: self.due_date,
                number: self.number,
                withheld_tax_amount: self.withheld_tax_amount,
            },
            external_reference: self.external_reference,
        };
        let call = self.once.post("operations").body(body);
        session.show(call, &OPERATION).await
    }
}
