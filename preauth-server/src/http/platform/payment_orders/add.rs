//! POST /payment-orders: generates an order to pay a registered supplier.

use chrono::NaiveDate;
use preauth_core::payment_order::{PaymentOrder, may_belong_to};
use preauth_core::port::{OrderTarget, Viewer};
use preauth_core::service::{PlatformKey, ReplyOf};
use preauth_core::value::{Cnpj, CompanyId, DueDate, FingerprintBuilder, Money, OperationId};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::create::Create;
use crate::http::platform::{PlatformApi, Refusal, lookup};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::log;

use super::shape::PaymentOrderShape;

const MAX_OPERATION_ID: u64 = i64::MAX.unsigned_abs();

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Add;

#[async_trait]
impl Create for Add {
    type New = NewPaymentOrder;

    fn parse(&self, tree: &Json) -> Result<NewPaymentOrder, Vec<Problem>> {
        parse(tree)
    }

    fn describe(&self, new: &NewPaymentOrder, parts: &mut FingerprintBuilder) {
        let NewPaymentOrder {
            target,
            amount,
            scheduled_for,
        } = new;
        parts.part(Some(&target.payer.to_string()));
        parts.part(Some(target.supplier.as_str()));
        parts.part(target.operation.map(|id| id.to_string()).as_ref());
        parts.part(Some(&amount.cents().to_string()));
        parts.part(scheduled_for.map(|day| day.to_string()).as_ref());
    }

    async fn create(
        &self,
        api: &PlatformApi,
        _req: &Request,
        new: NewPaymentOrder,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        lookup::parties(api, new.target.payer, &new.target.supplier).await?;
        if let Some(id) = new.target.operation {
            let found = api.queries.find(Viewer::Platform, id).await?;
            let operation = found.ok_or(Refusal::OperationUnknown)?;
            if !may_belong_to(&operation, new.target.payer, new.target.supplier) {
                return Err(Refusal::OperationOfOthers.into());
            }
        }
        let now = api.clock.now();
        let shown = |order: &PaymentOrder| convert::text(&PaymentOrderShape::from(order));
        let reply = key.map(|key| move |order: &PaymentOrder| key.reply(shown(order)));
        let reply = reply
            .as_ref()
            .map(|reply| -> &ReplyOf<'_, PaymentOrder> { reply });
        let order = api
            .operations
            .create_order(&new.target, new.amount, new.scheduled_for, reply, now)
            .await?;
        log::ordered(&order);
        Ok(Reply::json(StatusCode::CREATED, shown(&order)))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::http::platform) struct NewPaymentOrder {
    target: OrderTarget,
    amount: Money,
    scheduled_for: Option<NaiveDate>,
}

fn parse(tree: &Json) -> Result<NewPaymentOrder, Vec<Problem>> {
    let mut problems = Problems::default();
    let new = Fields::body(tree, &mut problems).and_then(|body| {
        let payer = body.id("payerCompanyId", CompanyId::parse, &mut problems);
        let supplier = body.text("supplierCnpj", Cnpj::parse, &mut problems);
        let amount = body.money("amount", &mut problems);
        let scheduled_for = body.optional_text("scheduledFor", DueDate::parse, &mut problems);
        let operation = body.optional_whole("operationId", 1, MAX_OPERATION_ID, &mut problems);
        let operation = operation.and_then(|id| OperationId::new(id.try_into().ok()?));
        Some(NewPaymentOrder {
            target: OrderTarget {
                payer: payer?,
                supplier: supplier?,
                operation,
            },
            amount: amount?,
            scheduled_for: scheduled_for.map(DueDate::date),
        })
    });
    problems.unless_any(new)
}

#[cfg(test)]
mod tests {
    use super::{Json, parse};

    #[test]
    fn an_order_needs_its_parties_and_an_amount() {
        let body = br#"{
            "payerCompanyId": "018f2f3a-0000-7000-8000-000000000001",
            "supplierCnpj": "12.ABC.345/01DE-35",
            "amount": 900.5,
            "scheduledFor": null
        }"#;
        let new = parse(&Json::parse(body).unwrap()).unwrap();
        assert_eq!(new.amount.cents(), 90_050);
        assert_eq!((new.scheduled_for, new.target.operation), (None, None));
    }

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"amount": "x", "scheduledFor": "hoje", "operationId": "7"}"#;
        let found = parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        let expected = [
            "payerCompanyId",
            "supplierCnpj",
            "amount",
            "scheduledFor",
            "operationId",
        ];
        assert_eq!(fields, expected);
    }
}
