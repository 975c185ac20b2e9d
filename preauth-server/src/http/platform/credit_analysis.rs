//! `/companies/{id}/credit-analysis`: the credit of a head office and its branches.

use preauth_core::ErrorCode;
use preauth_core::operation::Credit;
use preauth_core::value::{CompanyId, Money};
use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{answer, request};
use crate::http::reply::Reply;
use crate::http::requested::{RequestedObject, whole};

use super::endpoint::{Endpoint, existing, ok};
use super::sections::{COMPANIES, HEAD_OFFICE};
use super::{PlatformApi, lookup};

/// Maximum term of an analysis, in days. Zero allows no term and so ends a credit.
const MAX_TERM_DAYS: u32 = 3_650;

answer! {
    /// The limits on offers of a head office and its branches.
    #[derive(Debug)]
    pub(crate) struct CreditAnalysis = "CreditAnalysis" {
        /// The head office's id.
        company_id: CompanyId,
        /// Longest term, in days from today; 0 allows nothing.
        max_term_days: u32 = 120 => |it| it.at_least(0).at_most(MAX_TERM_DAYS.into()),
        /// Greatest amount of an invoice, in reais.
        max_invoice_amount: Money = 250_000.0 => |it| it.above(0).at_most(1_000_000_000),
    }
}

request! {
    /// The limits on offers of a head office and its branches.
    #[derive(Debug)]
    pub(crate) struct NewCreditAnalysis = "NewCreditAnalysis" {
        /// Longest term, in days from today; 0 allows nothing.
        max_term_days: u32 = 120 => |it| it.at_least(0).at_most(MAX_TERM_DAYS.into());
            whole(0, MAX_TERM_DAYS),
        /// Greatest amount of an invoice, in reais.
        max_invoice_amount: Money = 250_000.0,
    }
}

impl From<NewCreditAnalysis> for Credit {
    fn from(new: NewCreditAnalysis) -> Self {
        let NewCreditAnalysis {
            max_term_days,
            max_invoice_amount,
        } = new;
        Self {
            max_term_days,
            max_invoice_amount,
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Set;

#[async_trait]
impl Endpoint for Set {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                COMPANIES,
                "setCreditAnalysis",
                "Set what a head office and its branches may offer",
            )
            .id(HEAD_OFFICE)
            .body("The limits.", Schema::of::<NewCreditAnalysis>())
            .answers(200, "The analysis.", Schema::of::<CreditAnalysis>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let credit = NewCreditAnalysis::parse(&api.json(req).await?)?.into();
        let company = lookup::head_office(api, req).await?;
        let now = api.clock.now();
        api.directory.set_credit(company, credit, now).await?;
        Ok(reply(company, credit))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                COMPANIES,
                "getCreditAnalysis",
                "Get what a head office and its branches may offer",
            )
            .id(HEAD_OFFICE)
            .answers(200, "The analysis.", Schema::of::<CreditAnalysis>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = lookup::head_office(api, req).await?;
        let credit = api.directory.credit(company).await?;
        let credit = existing(credit)?;
        Ok(reply(company, credit))
    }
}

fn reply(company_id: CompanyId, credit: Credit) -> Reply {
    ok(&CreditAnalysis {
        company_id,
        max_term_days: credit.max_term_days,
        max_invoice_amount: credit.max_invoice_amount,
    })
}

#[cfg(test)]
mod tests {
    use super::{Credit, MAX_TERM_DAYS, NewCreditAnalysis, RequestedObject as _};
    use crate::http::json::Json;
    use crate::http::problem::{Defect, Problem};

    #[test]
    fn an_analysis_needs_a_term_and_an_amount() {
        let read = |body: &str| {
            let read = NewCreditAnalysis::parse(&Json::parse(body.as_bytes()).unwrap());
            read.map(Credit::from)
        };
        let credit = read(r#"{"maxTermDays": 120, "maxInvoiceAmount": 250000.50}"#).unwrap();
        assert_eq!(credit.max_term_days, 120);
        assert_eq!(credit.max_invoice_amount.cents(), 25_000_050);
        let days = Defect::WholeNumber {
            min: 0,
            max: MAX_TERM_DAYS.into(),
        };
        assert_eq!(
            read(r#"{"maxTermDays": 3651, "maxInvoiceAmount": 0}"#),
            Err(vec![
                Problem::new("maxTermDays", days),
                Problem::new("maxInvoiceAmount", Defect::MoneyOutOfRange),
            ])
        );
        assert_eq!(
            read("{}"),
            Err(vec![
                Problem::new("maxTermDays", Defect::Required),
                Problem::new("maxInvoiceAmount", Defect::Required),
            ])
        );
    }
}
