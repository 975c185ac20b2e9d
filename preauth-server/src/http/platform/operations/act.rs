//! POST /operations/{id}/{action}: one row per action, and one handler for all of them.

use preauth_core::operation::{Actor, By, Command, Operation, ReprovedBy};
use preauth_core::port::Viewer;
use preauth_core::service::{CommandOutcome, ReplyOf};
use preauth_core::text_enum;
use preauth_core::value::{OperationId, Reason};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems, one_of};
use crate::http::json::Json;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::{body, convert, path_id};
use crate::log;

use super::shape::OperationShape;

/// An action: its last path segment, and the function that reads its command from the body.
pub(in crate::http::platform) struct OperationAction {
    pub(in crate::http::platform) segment: &'static str,
    command: fn(Fields<'_>, &mut Problems) -> Option<Command>,
}

/// Every action of the platform API on an operation. The body is optional if none of its fields is
/// required.
pub(in crate::http::platform) static ACTIONS: [OperationAction; 12] = [
    action("request", |_, _| Some(Command::Request)),
    action("decline", |body, problems| {
        let reason = reason(body, problems);
        Some(Command::Decline { reason })
    }),
    action("withdraw", |body, problems| {
        let reason = reason(body, problems);
        Some(Command::Withdraw { reason })
    }),
    action("verify", |_, _| Some(Command::Verify)),
    action("approve", |_, _| Some(Command::Approve)),
    action("release", |body, problems| {
        let net_amount = body.money("netAmount", problems)?;
        Some(Command::Release { net_amount })
    }),
    action("pay", |_, _| Some(Command::Pay)),
    action("return-payout", |_, _| Some(Command::ReturnPayout)),
    action("bill", |_, _| Some(Command::Bill)),
    action("conclude", |_, _| Some(Command::Conclude)),
    action("reprove", |body, problems| {
        let by = body.text("by", one_of(Reprover::ALL), problems);
        let reason = reason(body, problems);
        let by = by?.into();
        Some(Command::Reprove { by, reason })
    }),
    action("reopen", |_, _| Some(Command::Reopen)),
];

const fn action(
    segment: &'static str,
    command: fn(Fields<'_>, &mut Problems) -> Option<Command>,
) -> OperationAction {
    OperationAction { segment, command }
}

#[async_trait]
impl Endpoint for &'static OperationAction {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::operation(req)?;
        let command = self.parse(&body::optional_json(req).await?)?;
        let done = perform(api, id, &command).await?;
        let body = convert::text(&OperationShape::from(&done.operation));
        Ok(Reply::json(StatusCode::OK, body))
    }
}

/// Executes `command` on an operation as the actor that may do it.
pub(in crate::http::platform) async fn perform(
    api: &PlatformApi,
    id: OperationId,
    command: &Command,
) -> Result<CommandOutcome, ApiError> {
    perform_with_reply(api, id, command, None).await
}

/// The same, with the reply to store, if there is one.
pub(in crate::http::platform) async fn perform_with_reply(
    api: &PlatformApi,
    id: OperationId,
    command: &Command,
    reply: Option<&ReplyOf<'_, Operation>>,
) -> Result<CommandOutcome, ApiError> {
    let (viewer, actor, now) = (Viewer::Platform, actor(command), api.clock.now());
    let done = api
        .operations
        .command_with_reply(viewer, id, command, actor, reply, now)
        .await?;
    log::moved(&done);
    Ok(done)
}

impl OperationAction {
    fn parse(&self, tree: &Json) -> Result<Command, Vec<Problem>> {
        let mut problems = Problems::default();
        let body = Fields::body(tree, &mut problems);
        let command = body.and_then(|body| (self.command)(body, &mut problems));
        problems.unless_any(command)
    }
}

text_enum! {
    /// `by` of a reproval.
    enum Reprover, "reprover" {
        /// The construction company.
        Company => "COMPANY",
        /// The platform's own operation.
        Platform => "PLATFORM",
    }
}

impl From<Reprover> for ReprovedBy {
    fn from(reprover: Reprover) -> Self {
        match reprover {
            Reprover::Company => Self::Company,
            Reprover::Platform => Self::Platform,
        }
    }
}

fn reason(body: Fields<'_>, problems: &mut Problems) -> Option<Reason> {
    body.optional_text("reason", Reason::parse, problems)
}

/// The actor of the command in the transition table.
pub(crate) const fn actor(command: &Command) -> Actor {
    match command.action().transition().by {
        // An ERP's command comes from its company here, because no key was presented.
        By::Company | By::Erp => Actor::Company,
        By::Supplier => Actor::Supplier,
        By::Platform => Actor::Platform,
        By::System => Actor::System,
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, Actor, Command, Json, Problem, actor};
    use crate::http::problem::Defect;
    use preauth_core::operation::{Action, TRANSITIONS};

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
        let acts = |segment, body| actor(&parse(segment, body).unwrap());
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
