//! POST /payment-orders/{id}/{action}: one row per action, and one handler for all of them.

use preauth_core::payment_order::OrderCommand;
use preauth_core::value::{DueDate, PaymentOrderId, Reason};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::{body, convert, path_id};
use crate::log;

use super::shape::PaymentOrderShape;

/// An action: its last path segment, and the function that reads its command from the body.
pub(in crate::http::platform) struct PaymentOrderAction {
    pub(in crate::http::platform) segment: &'static str,
    command: fn(Fields<'_>, &mut Problems) -> OrderCommand,
}

/// Every action on a payment order. No field of their bodies is required.
pub(in crate::http::platform) static ACTIONS: [PaymentOrderAction; 5] = [
    action("review", |_, _| OrderCommand::Review),
    action("schedule", |body, problems| {
        let day = body.optional_text("scheduledFor", DueDate::parse, problems);
        OrderCommand::Schedule {
            on: day.map(DueDate::date),
        }
    }),
    action("pay", |_, _| OrderCommand::Pay),
    action("cancel", |body, problems| OrderCommand::Cancel {
        reason: body.optional_text("reason", Reason::parse, problems),
    }),
    action("reprove", |body, problems| OrderCommand::Reprove {
        reason: body.optional_text("reason", Reason::parse, problems),
    }),
];

const fn action(
    segment: &'static str,
    command: fn(Fields<'_>, &mut Problems) -> OrderCommand,
) -> PaymentOrderAction {
    PaymentOrderAction { segment, command }
}

#[async_trait]
impl Endpoint for &'static PaymentOrderAction {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, PaymentOrderId::parse)?;
        let command = self.parse(&body::optional_json(req).await?)?;
        let now = api.clock.now();
        let order = api.operations.order_command(id, &command, now).await?;
        log::ordered(&order);
        let body = convert::text(&PaymentOrderShape::from(&order));
        Ok(Reply::json(StatusCode::OK, body))
    }
}

impl PaymentOrderAction {
    fn parse(&self, tree: &Json) -> Result<OrderCommand, Vec<Problem>> {
        let mut problems = Problems::default();
        let body = Fields::body(tree, &mut problems);
        let command = body.map(|body| (self.command)(body, &mut problems));
        problems.unless_any(command)
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, Json, OrderCommand, Problem};

    fn parse(segment: &str, body: &str) -> Result<OrderCommand, Vec<Problem>> {
        let action = ACTIONS.iter().find(|action| action.segment == segment);
        action
            .unwrap()
            .parse(&Json::parse(body.as_bytes()).unwrap())
    }

    #[test]
    fn an_order_is_scheduled_for_a_day_or_for_the_one_it_has() {
        let on = |body| match parse("schedule", body) {
            Ok(OrderCommand::Schedule { on }) => on.map(|day| day.to_string()),
            other => panic!("{other:?}"),
        };
        assert_eq!(on("{}"), None);
        let day = on(r#"{"scheduledFor": "2026-12-31"}"#);
        assert_eq!(day.as_deref(), Some("2026-12-31"));
        assert!(parse("schedule", r#"{"scheduledFor": "2026-12-32"}"#).is_err());
    }

    #[test]
    fn a_reason_is_kept_where_the_action_has_one() {
        let body = r#"{"reason": " Em duplicidade "}"#;
        for segment in ["cancel", "reprove"] {
            let (OrderCommand::Cancel { reason } | OrderCommand::Reprove { reason }) =
                parse(segment, body).unwrap()
            else {
                panic!("{segment} has a reason");
            };
            assert_eq!(reason.unwrap().as_str(), "Em duplicidade");
        }
        assert_eq!(parse("pay", body), Ok(OrderCommand::Pay));
    }
}
