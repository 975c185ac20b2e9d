//! `/payment-orders`: orders to pay suppliers. Their own transition table decides what is allowed.

use preauth_core::ErrorCode;
use preauth_core::payment_order::{OrderCommand, PaymentOrder, may_belong_to};
use preauth_core::port::{OrderTarget, PageRequest, Viewer};
use preauth_core::service::{PlatformKey, ReplyOf};
use preauth_core::value::{
    Cnpj, CompanyId, DueDate, FingerprintBuilder, Money, OperationId, PaymentOrderId,
    PaymentOrderStatus, Reason, Timestamp, Version,
};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::PaymentOrderFilter;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems, one_of};
use crate::http::json::Json;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer, request};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::requested::RequestedObject;
use crate::http::{convert, list_query, path_id, requested};
use crate::log;

use super::calling_operator::CallingOperator;
use super::create::Create;
use super::endpoint::{Endpoint, existing, ok};
use super::party::PartyShape;
use super::reason::NewReason;
use super::sections::RECORDS;
use super::{PlatformApi, Refusal, if_version, lookup, paging};

answer! {
    /// An order to pay a supplier.
    #[derive(Debug)]
    pub(crate) struct PaymentOrderShape = "PaymentOrder" {
        /// The order's id.
        id: PaymentOrderId,
        /// Changes so far.
        version: Version => |it| it.at_least(1),
        /// Status.
        status: Open<PaymentOrderStatus>,
        payer: PartyShape,
        supplier: PartyShape,
        /// How much, in reais.
        amount: Money,
        /// The day of payment, once known.
        scheduled_for: Option<DueDate> = "2027-01-15",
        /// The operation it belongs to, if any.
        operation_id: Option<OperationId> = 42,
        /// Why it was cancelled or refused.
        reason: Option<Text<Reason>>,
        /// When it was generated.
        created_at: Timestamp,
    }
}

impl From<&PaymentOrder> for PaymentOrderShape {
    fn from(order: &PaymentOrder) -> Self {
        Self {
            id: order.id,
            version: order.version,
            status: order.status.into(),
            payer: (&order.payer).into(),
            supplier: (&order.supplier).into(),
            amount: order.amount,
            scheduled_for: order.scheduled_for.and_then(DueDate::from_date),
            operation_id: order.operation,
            reason: order.reason.as_ref().map(Into::into),
            created_at: order.created_at,
        }
    }
}

request! {
    /// An order.
    #[derive(Debug)]
    pub(crate) struct NewPaymentOrder = "NewPaymentOrder" {
        /// A construction company.
        payer_company_id: CompanyId,
        /// A registered supplier.
        supplier_cnpj: Cnpj,
        /// How much, in reais.
        amount: Money,
        /// The day of payment.
        scheduled_for: Option<DueDate> = "2027-01-15",
        /// An operation of the same payer and supplier.
        operation_id: Option<OperationId>,
    }
}

request! {
    /// When.
    #[derive(Debug)]
    pub(crate) struct Schedule = "Schedule" {
        /// The day of payment; the one it has otherwise.
        scheduled_for: Option<DueDate> = "2027-01-15",
    }
}

/// Newest first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        let status = Schema::one_of(
            "Only these.",
            PaymentOrderStatus::ALL,
            PaymentOrderStatus::Scheduled,
        );
        let of = Schema::integer("Only those of this operation.", 42).at_least(1);
        operation
            .titled(RECORDS, "listPaymentOrders", "List payment orders")
            .paged()
            .parameter(Parameter::query("status", status))
            .parameter(Parameter::query("operationId", of))
            .answers(200, "Newest first.", Schema::list_of::<PaymentOrderShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = filter(&Query::parse(req.uri().query()))?;
        let found = api.directory.payment_orders(filter, page).await?;
        Ok(paging::reply(&found, page, |each| {
            PaymentOrderShape::from(each)
        }))
    }
}

fn filter(query: &Query) -> Result<(PaymentOrderFilter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let filter = PaymentOrderFilter {
        status: query.one("status", one_of(PaymentOrderStatus::ALL), &mut problems),
        operation: query.one("operationId", list_query::operation_id, &mut problems),
    };
    let page = list_query::page(query, &mut problems);
    problems.unless_any(Some((filter, page)))
}

/// Generates an order to pay a registered supplier.
#[derive(Clone, Copy)]
pub(super) struct Add;

#[async_trait]
impl Create for Add {
    type New = NewPaymentOrder;

    fn document(&self, operation: Described) -> Described {
        operation
            .titled(RECORDS, "addPaymentOrder", "A payment order was generated")
            .note(
                "An operation has one payment order at a time: another is 409 `RESOURCE_CONFLICT` until the first is canceled or \
                 reproved, or its payout was returned after it was paid.",
            )
            .body("The order.", Schema::of::<NewPaymentOrder>())
            .answers(201, "Generated.", Schema::of::<PaymentOrderShape>())
            .refuses(&[
                ErrorCode::ResourceNotFound,
                ErrorCode::ResourceConflict,
                ErrorCode::PreAuthSupplierSelf,
            ])
    }

    fn describe(&self, new: &NewPaymentOrder, parts: &mut FingerprintBuilder) {
        let NewPaymentOrder {
            payer_company_id,
            supplier_cnpj,
            amount,
            scheduled_for,
            operation_id,
        } = new;
        parts.part(Some(&payer_company_id.to_string()));
        parts.part(Some(supplier_cnpj.as_str()));
        parts.part(operation_id.map(|id| id.to_string()).as_ref());
        parts.part(Some(&amount.cents().to_string()));
        parts.part(scheduled_for.map(|day| day.to_string()).as_ref());
    }

    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: NewPaymentOrder,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let target = OrderTarget {
            payer: new.payer_company_id,
            supplier: new.supplier_cnpj,
            operation: new.operation_id,
        };
        lookup::parties(api, target.payer, &target.supplier).await?;
        if let Some(id) = target.operation {
            let found = api.queries.find(Viewer::Platform, id).await?;
            let operation = found.ok_or(Refusal::OperationUnknown)?;
            if !may_belong_to(&operation, target.payer, target.supplier) {
                return Err(Refusal::OperationOfOthers.into());
            }
        }
        let now = api.clock.now();
        let shown = |order: &PaymentOrder| convert::text(&PaymentOrderShape::from(order));
        let reply = key.map(|key| move |order: &PaymentOrder| key.reply(shown(order)));
        let reply = reply
            .as_ref()
            .map(|reply| -> &ReplyOf<'_, PaymentOrder> { reply });
        let day = new.scheduled_for.map(DueDate::date);
        let order = CallingOperator::operations(api, req)?
            .create_order(&target, new.amount, day, reply, now)
            .await?;
        log::ordered(&order, &CallingOperator::of(req)?.name);
        Ok(Reply::json(StatusCode::CREATED, shown(&order)))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(RECORDS, "getPaymentOrder", "Get a payment order")
            .number("The order's id.", ErrorCode::ResourceNotFound)
            .answers(200, "The order.", Schema::of::<PaymentOrderShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, PaymentOrderId::parse)?;
        let found = api.directory.payment_order(id).await?;
        let order = existing(found)?;
        Ok(ok(&PaymentOrderShape::from(&order)))
    }
}

/// An action: its last path segment, its description, and the function that reads its command from
/// the body.
pub(super) struct PaymentOrderAction {
    pub(super) segment: &'static str,
    id: &'static str,
    summary: &'static str,
    body: Option<fn() -> Schema>,
    command: fn(Fields<'_>, &mut Problems) -> Option<OrderCommand>,
}

/// Every action on a payment order. No field of their bodies is required.
pub(super) static ACTIONS: [PaymentOrderAction; 5] = [
    PaymentOrderAction {
        segment: "review",
        id: "reviewPaymentOrder",
        summary: "Begin the review of a payment order",
        body: None,
        command: |_, _| Some(OrderCommand::Review),
    },
    PaymentOrderAction {
        segment: "schedule",
        id: "schedulePaymentOrder",
        summary: "Schedule a payment order",
        body: Some(Schema::of::<Schedule>),
        command: |body, problems| {
            let Schedule { scheduled_for } = Schedule::members(body, problems)?;
            let on = scheduled_for.map(DueDate::date);
            Some(OrderCommand::Schedule { on })
        },
    },
    PaymentOrderAction {
        segment: "pay",
        id: "payPaymentOrder",
        summary: "Record that a payment order was paid",
        body: None,
        command: |_, _| Some(OrderCommand::Pay),
    },
    PaymentOrderAction {
        segment: "cancel",
        id: "cancelPaymentOrder",
        summary: "Cancel a payment order",
        body: Some(Schema::of::<NewReason>),
        command: |body, problems| {
            let NewReason { reason } = NewReason::members(body, problems)?;
            Some(OrderCommand::Cancel { reason })
        },
    },
    PaymentOrderAction {
        segment: "reprove",
        id: "reprovePaymentOrder",
        summary: "Refuse a payment order",
        body: Some(Schema::of::<NewReason>),
        command: |body, problems| {
            let NewReason { reason } = NewReason::members(body, problems)?;
            Some(OrderCommand::Reprove { reason })
        },
    },
];

#[async_trait]
impl Endpoint for &'static PaymentOrderAction {
    fn document(&self, operation: Described) -> Described {
        let operation = operation
            .titled(RECORDS, self.id, self.summary)
            .number("The order's id.", ErrorCode::ResourceNotFound)
            .answers(
                200,
                "The order as moved.",
                Schema::of::<PaymentOrderShape>(),
            )
            .refuses(&[ErrorCode::AnticipationInvalidTransition]);
        let operation = if_version::described(operation);
        match self.body {
            None => operation.reads_body(),
            Some(body) => operation.optional_body("The details, if any.", body()),
        }
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, PaymentOrderId::parse)?;
        let seen = if_version::seen(req)?;
        let command = self.parse(&api.optional_json(req).await?)?;
        let now = api.clock.now();
        let order = CallingOperator::operations(api, req)?
            .if_version(seen)
            .order_command(id, &command, now)
            .await?;
        log::ordered(&order, &CallingOperator::of(req)?.name);
        Ok(ok(&PaymentOrderShape::from(&order)))
    }
}

impl PaymentOrderAction {
    fn parse(&self, tree: &Json) -> Result<OrderCommand, Vec<Problem>> {
        requested::body(tree, self.command)
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, Json, NewPaymentOrder, OrderCommand, Problem, RequestedObject as _};

    #[test]
    fn an_order_needs_its_parties_and_an_amount() {
        let body = br#"{
            "payerCompanyId": "018f2f3a-0000-7000-8000-000000000001",
            "supplierCnpj": "12.ABC.345/01DE-35",
            "amount": 900.5,
            "scheduledFor": null
        }"#;
        let new = NewPaymentOrder::parse(&Json::parse(body).unwrap()).unwrap();
        assert_eq!(new.amount.cents(), 90_050);
        assert_eq!((new.scheduled_for, new.operation_id), (None, None));
    }

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"amount": "x", "scheduledFor": "hoje", "operationId": "7"}"#;
        let found = NewPaymentOrder::parse(&Json::parse(body).unwrap()).unwrap_err();
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

    fn command(segment: &str, body: &str) -> Result<OrderCommand, Vec<Problem>> {
        let action = ACTIONS.iter().find(|action| action.segment == segment);
        action
            .unwrap()
            .parse(&Json::parse(body.as_bytes()).unwrap())
    }

    #[test]
    fn an_order_is_scheduled_for_a_day_or_for_the_one_it_has() {
        let on = |body| match command("schedule", body) {
            Ok(OrderCommand::Schedule { on }) => on.map(|day| day.to_string()),
            other => panic!("{other:?}"),
        };
        assert_eq!(on("{}"), None);
        let day = on(r#"{"scheduledFor": "2026-12-31"}"#);
        assert_eq!(day.as_deref(), Some("2026-12-31"));
        assert!(command("schedule", r#"{"scheduledFor": "2026-12-32"}"#).is_err());
    }

    #[test]
    fn a_reason_is_kept_where_the_action_has_one() {
        let body = r#"{"reason": " Em duplicidade "}"#;
        for segment in ["cancel", "reprove"] {
            let (OrderCommand::Cancel { reason } | OrderCommand::Reprove { reason }) =
                command(segment, body).unwrap()
            else {
                panic!("{segment} has a reason");
            };
            assert_eq!(reason.unwrap().as_str(), "Em duplicidade");
        }
        assert_eq!(command("pay", body), Ok(OrderCommand::Pay));
    }
}
