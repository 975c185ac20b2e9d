//! POST /invoices: records a received invoice and notifies its payer by an event.

use preauth_core::ReceivedInvoice;
use preauth_core::service::PlatformKey;
use preauth_core::value::{Cnpj, CompanyId, DueDate, FingerprintBuilder, InvoiceNumber, Money};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::Endpoint;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::create::Create;
use crate::http::platform::{PlatformApi, lookup};
use crate::http::problem::Problem;
use crate::http::reply::Reply;

use super::shape::InvoiceShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Add;

#[async_trait]
impl Create for Add {
    type New = NewInvoice;

    fn parse(&self, tree: &Json) -> Result<NewInvoice, Vec<Problem>> {
        parse(tree)
    }

    fn describe(&self, new: &NewInvoice, parts: &mut FingerprintBuilder) {
        let NewInvoice {
            payer,
            supplier,
            amount,
            due_date,
            number,
        } = new;
        parts.part(Some(&payer.to_string()));
        parts.part(Some(supplier.as_str()));
        parts.part(Some(&amount.cents().to_string()));
        parts.part(Some(&due_date.to_string()));
        parts.text(Some(number.as_str()));
    }

    async fn create(
        &self,
        api: &PlatformApi,
        _req: &Request,
        new: NewInvoice,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let (payer, supplier) = lookup::parties(api, new.payer, &new.supplier).await?;
        let invoice = ReceivedInvoice {
            id: api.directory.reserve_invoice().await?,
            payer: payer.party(),
            supplier: supplier.party(),
            amount: new.amount,
            due_date: new.due_date,
            number: new.number,
            received_at: api.clock.now(),
        };
        let body = convert::text(&InvoiceShape::from(&invoice));
        let reply = key.map(|key| key.reply(body.clone()));
        let endpoint = api.directory.endpoint(invoice.payer.head_office).await?;
        let subscription = endpoint.as_ref().map(Endpoint::subscription);
        api.operations
            .receive_invoice(&invoice, subscription.as_slice(), reply)
            .await?;
        Ok(Reply::json(StatusCode::CREATED, body))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::http::platform) struct NewInvoice {
    payer: CompanyId,
    supplier: Cnpj,
    amount: Money,
    due_date: DueDate,
    number: InvoiceNumber,
}

fn parse(tree: &Json) -> Result<NewInvoice, Vec<Problem>> {
    let mut problems = Problems::default();
    let new = Fields::body(tree, &mut problems).and_then(|body| {
        let payer = body.id("payerCompanyId", CompanyId::parse, &mut problems);
        let supplier = body.text("supplierCnpj", Cnpj::parse, &mut problems);
        let invoice = body.object("invoice", &mut problems);
        let invoice = invoice.and_then(|invoice| {
            let amount = invoice.money("amount", &mut problems);
            let due_date = invoice.text("dueDate", DueDate::parse, &mut problems);
            let number = invoice.text("number", InvoiceNumber::parse, &mut problems);
            Some((amount?, due_date?, number?))
        });
        let (amount, due_date, number) = invoice?;
        Some(NewInvoice {
            payer: payer?,
            supplier: supplier?,
            amount,
            due_date,
            number,
        })
    });
    problems.unless_any(new)
}

#[cfg(test)]
mod tests {
    use super::{Json, parse};

    #[test]
    fn an_invoice_may_be_of_any_amount_above_zero() {
        let body = br#"{
            "payerCompanyId": "018f2f3a-0000-7000-8000-000000000001",
            "supplierCnpj": "12.ABC.345/01DE-35",
            "invoice": {"amount": 0.01, "dueDate": "2020-01-20", "number": " NF-1 "}
        }"#;
        let new = parse(&Json::parse(body).unwrap()).unwrap();
        assert_eq!(new.amount.cents(), 1);
        assert_eq!(new.number.as_str(), "NF-1");
    }

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"payerCompanyId": 1, "invoice": {"amount": 0, "dueDate": "amanha"}}"#;
        let found = parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        let expected = [
            "payerCompanyId",
            "supplierCnpj",
            "invoice.amount",
            "invoice.dueDate",
            "invoice.number",
        ];
        assert_eq!(fields, expected);
    }
}
