//! `credit`: the credit of a head office and its branches.

use clap::Subcommand;
use preauth_core::value::Money;

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, Shown as _, View};
use crate::admin::session::Session;
use crate::http::platform::credit_analysis::{CreditAnalysis, NewCreditAnalysis};
use crate::labels;
use crate::typed_amount;

use super::Run;

/// Commands on credit analyses.
#[derive(Debug, Subcommand)]
pub(crate) enum CreditCommand {
    /// Say what a head office and its branches may offer.
    #[command(
        after_help = "Example:\n  preauth-server credit set 45.723.001/0001-00 \
                            --max-term-days 120 --max-invoice-amount 250000.00"
    )]
    Set {
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// How far ahead a due date may lie; 0 ends the credit.
        #[arg(long, value_name = "DAYS")]
        max_term_days: u32,
        /// How much one invoice may have, in reais.
        #[arg(long, value_name = "REAIS", value_parser = typed_amount::parse)]
        max_invoice_amount: Money,
    },
    /// Show what a head office and its branches may offer.
    #[command(after_help = "Example:\n  preauth-server credit show 45.723.001/0001-00")]
    Show {
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
    },
}

const CREDIT: View<CreditAnalysis> = View::of(&[
    Field::new(labels::COMPANY, |it| it.company_id.cell()),
    Field::new(labels::MAX_TERM_DAYS, |it| it.max_term_days.cell()),
    Field::new(labels::MAX_INVOICE_AMOUNT, |it| {
        it.max_invoice_amount.cell()
    }),
]);

impl Run for CreditCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Set {
                company,
                max_term_days,
                max_invoice_amount,
            } => {
                let company = session.company(&company).await?;
                let body = NewCreditAnalysis {
                    max_term_days,
                    max_invoice_amount,
                };
                let call = Call::put(format!("companies/{company}/credit-analysis")).body(body);
                session.show(call, &CREDIT).await
            }
            Self::Show { company } => {
                let company = session.company(&company).await?;
                let call = Call::get(format!("companies/{company}/credit-analysis"));
                session.show(call, &CREDIT).await
            }
        }
    }
}
