//! POST /operations/{id}/{action}: one row per action, and one handler for all of them.

use preauth_core::ErrorCode;
use preauth_core::operation::Command;
use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::{Endpoint, ok};
use crate::http::platform::if_version;
use crate::http::platform::reason::NewReason;
use crate::http::platform::sections::{OPERATION, OPERATIONS};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::requested::RequestedObject;
use crate::http::{path_id, requested};

use super::perform::perform;
use super::shape::{OperationShape, Release, Reproval};

/// An action: its last path segment, its name and effect, its body, and the function that reads its
/// command from there.
pub(in crate::http::platform) struct OperationAction {
    pub(in crate::http::platform) segment: &'static str,
    id: &'static str,
    summary: &'static str,
    body: Body,
    command: fn(Fields<'_>, &mut Problems) -> Option<Command>,
}

enum Body {
    Nothing,
    Optional(fn() -> Schema),
    Required(fn() -> Schema),
}

/// Every action of the platform API on an operation. The body is optional if none of its fields is
/// required.
pub(in crate::http::platform) static ACTIONS: [OperationAction; 12] = [
    action(
        [
            "request",
            "requestOperation",
            "The supplier requests the advance",
        ],
        Body::Nothing,
        |_, _| Some(Command::Request),
    ),
    action(
        [
            "decline",
            "declineOperation",
            "The supplier declines the offer",
        ],
        Body::Optional(Schema::of::<NewReason>),
        |body, problems| {
            let NewReason { reason } = NewReason::members(body, problems)?;
            Some(Command::Decline { reason })
        },
    ),
    action(
        [
            "withdraw",
            "withdrawOperation",
            "The company takes the offer back",
        ],
        Body::Optional(Schema::of::<NewReason>),
        |body, problems| {
            let NewReason { reason } = NewReason::members(body, problems)?;
            Some(Command::Withdraw { reason })
        },
    ),
    action(
        [
            "verify",
            "verifyOperation",
            "The platform has verified a direct advance",
        ],
        Body::Nothing,
        |_, _| Some(Command::Verify),
    ),
    action(
        ["approve", "approveOperation", "The company approves"],
        Body::Nothing,
        |_, _| Some(Command::Approve),
    ),
    action(
        [
            "release",
            "releaseOperation",
            "The platform releases for payment",
        ],
        Body::Required(Schema::of::<Release>),
        |body, problems| {
            let Release { net_amount } = Release::members(body, problems)?;
            Some(Command::Release { net_amount })
        },
    ),
    action(
        ["pay", "payOperation", "The supplier was paid"],
        Body::Nothing,
        |_, _| Some(Command::Pay),
    ),
    action(
        [
            "return-payout",
            "returnPayout",
            "The bank returned the payment",
        ],
        Body::Nothing,
        |_, _| Some(Command::ReturnPayout),
    ),
    action(
        ["bill", "billOperation", "The boleto was issued"],
        Body::Nothing,
        |_, _| Some(Command::Bill),
    ),
    action(
        ["conclude", "concludeOperation", "The boleto was paid"],
        Body::Nothing,
        |_, _| Some(Command::Conclude),
    ),
    action(
        [
            "reprove",
            "reproveOperation",
            "The company or the platform refuses",
        ],
        Body::Required(Schema::of::<Reproval>),
        |body, problems| {
            let Reproval { by, reason } = Reproval::members(body, problems)?;
            let by = by.known().copied()?.into();
            Some(Command::Reprove { by, reason })
        },
    ),
    action(
        [
            "reopen",
            "reopenOperation",
            "The platform reopens what was reproved, where it was refused",
        ],
        Body::Nothing,
        |_, _| Some(Command::Reopen),
    ),
];

const fn action(
    [segment, id, summary]: [&'static str; 3],
    body: Body,
    command: fn(Fields<'_>, &mut Problems) -> Option<Command>,
) -> OperationAction {
    OperationAction {
        segment,
        id,
        summary,
        body,
        command,
    }
}

#[async_trait]
impl Endpoint for &'static OperationAction {
    fn document(&self, operation: Described) -> Described {
        let operation = operation
            .titled(OPERATIONS, self.id, self.summary)
            .number(OPERATION, ErrorCode::AnticipationNotFound)
            .answers(
                200,
                "The operation as moved.",
                Schema::of::<OperationShape>(),
            )
            .refuses(&[ErrorCode::AnticipationInvalidTransition]);
        let operation = if_version::described(operation);
        let operation = match self.body {
            Body::Nothing => operation.reads_body(),
            Body::Optional(body) => operation.optional_body("The details, if any.", body()),
            Body::Required(body) => operation.body("The details.", body()),
        };
        match self.segment {
            "reopen" => operation.refuses(&[ErrorCode::PreAuthDuplicateInvoice]),
            "pay" => operation.refuses(&[ErrorCode::FourEyesRequired]),
            _ => operation,
        }
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::operation(req)?;
        let command = self.parse(&api.optional_json(req).await?)?;
        let done = perform(api, req, id, &command).await?;
        Ok(ok(&OperationShape::from(&done.operation)))
    }
}

impl OperationAction {
    fn parse(&self, tree: &Json) -> Result<Command, Vec<Problem>> {
        requested::body(tree, self.command)
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, Command, Json, Problem};
    use crate::http::problem::Defect;
    use preauth_core::operation::{Action, Actor, TRANSITIONS};

    fn parse(segment: &str, body: &str) -> Result<Command, Vec<Problem>> {
        let action = ACTIONS.iter().find(|action| action.segment == segment);
        action
            .unwrap()
            .parse(&Json::parse(body.as_bytes()).unwrap())
    }

    #[test]
    fn every_action_of_the_table_has_a_route_unless_it_comes_from_elsewhere() {
        let body = r#"{"netAmount": 900, "by": "COMPANY"}"#;
        let routed = |segment: &str| parse(segment, body).unwrap().action();
        let mut routed: Vec<_> = ACTIONS.iter().map(|each| routed(each.segment)).collect();
        routed.push(Action::ReproveByPlatform);
        let elsewhere = [
            Action::Offer,
            Action::AdvanceDirectly,
            Action::Cancel,
            Action::Expire,
            Action::CreateExtension,
            Action::ConcludeExtension,
            Action::CancelExtension,
        ];
        for row in &TRANSITIONS {
            let is_elsewhere = elsewhere.contains(&row.action);
            assert_ne!(routed.contains(&row.action), is_elsewhere, "{row:?}");
        }
    }

    #[test]
    fn the_actor_is_that_of_the_transition_table() {
        let acts = |segment, body| parse(segment, body).unwrap().platform_actor();
        assert_eq!(acts("request", "{}"), Actor::Supplier);
        assert_eq!(acts("withdraw", "{}"), Actor::Company);
        assert_eq!(acts("pay", "{}"), Actor::Platform);
        assert_eq!(acts("reprove", r#"{"by": "COMPANY"}"#), Actor::Company);
        assert_eq!(acts("reprove", r#"{"by": "PLATFORM"}"#), Actor::Platform);
    }

    #[test]
    fn a_release_needs_an_amount_and_a_reproval_a_reprover() {
        let missing = |field| Err(vec![Problem::new(field, Defect::Required)]);
        assert_eq!(parse("release", "{}"), missing("netAmount"));
        assert_eq!(parse("reprove", "{}"), missing("by"));
        assert_eq!(
            parse("reprove", r#"{"by": "company", "reason": ""}"#)
                .unwrap_err()
                .len(),
            2
        );
    }

    #[test]
    fn a_reason_is_kept_where_the_action_has_one() {
        let body = r#"{"reason": " Sem interesse "}"#;
        let Command::Decline { reason } = parse("decline", body).unwrap() else {
            panic!("decline reads a decline");
        };
        assert_eq!(reason.unwrap().as_str(), "Sem interesse");
        assert_eq!(parse("request", body), Ok(Command::Request));
    }
}
