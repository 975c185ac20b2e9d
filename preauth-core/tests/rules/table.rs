//! Every state meets every command: what the table lists happens, and nothing else.

use preauth_core::ErrorCode;
use preauth_core::operation::{
    Action, By, Change, Closing, Command, CommandContext, Decision, Rejection, TRANSITIONS, decide,
    evolve, possible_actions,
};
use preauth_core::value::{EventType, Reason, Stage, Status, Timestamp};

use crate::given::{EXPIRES_AT, commands, moment, operation, states};

/// From, command, who, to, event, stage; the reason when none is given, where the contract fixes it.
type Row = (
    &'static [&'static str],
    &'static str,
    By,
    &'static str,
    &'static str,
    Option<&'static str>,
);

const TABLE: [Row; 18] = [
    (
        &["IN_PRE_AUTH"],
        "request",
        By::Supplier,
        "TO_APPROVE",
        "anticipation.requested",
        None,
    ),
    (
        &["IN_PRE_AUTH"],
        "decline",
        By::Supplier,
        "REPROVED",
        "pre_authorization.declined",
        Some("PRE_AUTH"),
    ),
    (
        &["IN_PRE_AUTH"],
        "cancel",
        By::Erp,
        "REPROVED",
        "pre_authorization.revoked",
        Some("PRE_AUTH"),
    ),
    (
        &["IN_PRE_AUTH"],
        "withdraw",
        By::Company,
        "REPROVED",
        "pre_authorization.revoked",
        Some("PRE_AUTH"),
    ),
    (
        &["IN_PRE_AUTH"],
        "expire",
        By::System,
        "REPROVED",
        "pre_authorization.expired",
        Some("SYSTEM"),
    ),
    (
        &["IN_VERIFICATION"],
        "verify",
        By::Platform,
        "TO_APPROVE",
        "anticipation.requested",
        None,
    ),
    (
        &["TO_APPROVE"],
        "approve",
        By::Company,
        "IN_ANALYSIS",
        "anticipation.approved",
        None,
    ),
    (
        &["IN_ANALYSIS"],
        "release",
        By::Platform,
        "TO_PAY",
        "anticipation.analysis_approved",
        None,
    ),
    (
        &["TO_PAY"],
        "pay",
        By::Platform,
        "TO_BILL",
        "anticipation.paid",
        None,
    ),
    (
        &["TO_BILL", "TO_RECEIVE"],
        "return payout",
        By::Platform,
        "TO_PAY",
        "anticipation.payout_returned",
        None,
    ),
    (
        &["TO_BILL"],
        "bill",
        By::Platform,
        "TO_RECEIVE",
        "anticipation.billed",
        None,
    ),
    (
        &["TO_RECEIVE"],
        "conclude",
        By::Platform,
        "CONCLUDED",
        "anticipation.concluded",
        None,
    ),
    (
        &["IN_VERIFICATION", "TO_APPROVE"],
        "reprove by company",
        By::Company,
        "REPROVED",
        "anticipation.reproved",
        Some("REQUEST"),
    ),
    (
        &["IN_VERIFICATION", "TO_APPROVE", "IN_ANALYSIS", "TO_PAY"],
        "reprove by platform",
        By::Platform,
        "REPROVED",
        "anticipation.reproved",
        Some("SYSTEM"),
    ),
    (
        &["REPROVED/by_company", "REPROVED/by_platform"],
        "reopen",
        By::Platform,
        "IN_ANALYSIS",
        "anticipation.reopened",
        None,
    ),
    (
        &["TO_RECEIVE"],
        "create extension",
        By::Platform,
        "TO_RECEIVE",
        "anticipation.extension_created",
        None,
    ),
    (
        &["TO_RECEIVE/extended"],
        "conclude extension",
        By::Platform,
        "TO_RECEIVE",
        "anticipation.extension_concluded",
        None,
    ),
    (
        &["TO_RECEIVE/extended"],
        "cancel extension",
        By::Platform,
        "TO_RECEIVE",
        "anticipation.extension_canceled",
        None,
    ),
];

/// After the end of the offer, so that time may expire it; no other decision looks at it here.
fn now() -> Timestamp {
    moment(EXPIRES_AT).saturating_add(chrono::TimeDelta::milliseconds(1))
}

/// The past that every operation here has.
fn context() -> CommandContext {
    CommandContext {
        reached: Some(EventType::AnticipationApproved),
        ..CommandContext::default()
    }
}

fn row(state: &str, command: &str) -> Option<&'static Row> {
    let mut rows = TABLE.iter();
    rows.find(|row| row.0.contains(&state) && row.1 == command)
}

// Contract: transition/the-others
#[test]
fn a_transition_of_the_table_happens_with_its_one_event() {
    for (state_name, state) in states() {
        for (command_name, command) in commands() {
            let Some((_, _, by, to, event, stage)) = row(state_name, command_name) else {
                continue;
            };
            let case = format!("{state_name}, {command_name}");
            let before = operation(state.clone());
            let Decision::Change(change) = decide(&before, &command, &context(), now()).unwrap()
            else {
                panic!("{case}: unchanged");
            };
            let after = evolve(&before, &change);
            assert_eq!(after.status().as_str(), *to, "{case}");
            assert_eq!(change.event_type().as_str(), *event, "{case}");
            assert_eq!(change.stage().map(Stage::as_str), *stage, "{case}");
            assert_eq!(change.action().transition().by, *by, "{case}");
            assert_eq!(change.action(), command.action(), "{case}");
            assert_eq!(change.closing().is_some(), stage.is_some(), "{case}");
            assert_eq!(after.version, before.version.next(), "{case}");
        }
    }
}

// Contract: transition/nothing-else
#[test]
fn a_transition_outside_the_table_is_refused() {
    for (state_name, state) in states() {
        for (command_name, command) in commands() {
            if row(state_name, command_name).is_some() {
                continue;
            }
            let case = format!("{state_name}, {command_name}");
            let outcome = decide(&operation(state.clone()), &command, &context(), now());
            if command == Command::Cancel {
                assert_eq!(outcome, cancel_answers(state_name), "{case}");
            } else {
                let code = outcome.unwrap_err().code();
                assert_eq!(code, ErrorCode::AnticipationInvalidTransition, "{case}");
            }
        }
    }
}

fn cancel_answers(state_name: &str) -> Result<Decision, Rejection> {
    match state_name {
        "REPROVED/cancelled" => Ok(Decision::Unchanged),
        name if name.starts_with("REPROVED") => Err(Rejection::AlreadyClosed),
        _ => Err(Rejection::AlreadyRequested),
    }
}

#[test]
fn exactly_what_is_not_refused_is_possible() {
    for (state_name, state) in states() {
        let operation = operation(state);
        let possible: Vec<_> = possible_actions(&operation).collect();
        for (command_name, command) in commands() {
            let action = command.action();
            let is_of_others = matches!(action.transition().by, By::Erp | By::System);
            let is_decided = decide(&operation, &command, &context(), now()).is_ok();
            let expected = is_decided && !is_of_others;
            let case = format!("{state_name}, {command_name}");
            assert_eq!(possible.contains(&action), expected, "{case}");
        }
    }
}

#[test]
fn the_refusal_names_the_status_it_was_validated_against() {
    for (_, state) in states() {
        let operation = operation(state);
        let status = operation.status();
        if status != Status::InVerification {
            let refused = decide(&operation, &Command::Verify, &context(), now());
            assert_eq!(refused, Err(Rejection::InvalidTransition { status }));
        }
    }
}

#[test]
fn every_row_of_the_code_stands_here_too() {
    let beginnings = [Action::Offer, Action::AdvanceDirectly];
    let others = TRANSITIONS
        .iter()
        .filter(|row| !beginnings.contains(&row.action));
    assert_eq!(others.count(), TABLE.len());
    let begins = beginnings.map(|action| {
        let row = action.transition();
        (row.to.first().unwrap().as_str(), row.event.as_str(), row.by)
    });
    assert_eq!(
        begins,
        [
            ("IN_PRE_AUTH", "pre_authorization.created", By::Erp),
            ("IN_VERIFICATION", "anticipation.created", By::Supplier),
        ]
    );
}

// Contract: operation-event/reason
#[test]
fn the_closing_texts_of_the_contract_are_its_own() {
    let texts = [
        (Command::Cancel, "Cancelada via integração"),
        (Command::Expire, "Pré-autorização expirada"),
    ];
    for (command, text) in texts {
        let (_, state) = states().swap_remove(0);
        let decided = decide(&operation(state), &command, &context(), now()).unwrap();
        let Decision::Change(change) = decided else {
            panic!("{command:?} changes nothing");
        };
        assert_eq!(change.closing().map(Closing::reason), Some(text));
    }
}

#[test]
fn a_closing_has_the_reason_that_was_given_or_a_text_of_its_own() {
    let given = Reason::parse("fora do prazo").unwrap();
    for (state_name, state) in states() {
        for (command_name, command) in commands() {
            let is_closing = row(state_name, command_name).is_some_and(|row| row.5.is_some());
            if !is_closing {
                continue;
            }
            let reason = |command: &Command| {
                let decided = decide(&operation(state.clone()), command, &context(), now());
                let Ok(Decision::Change(Change::Closed(closing))) = decided else {
                    panic!("{command_name} does not close {state_name}: {decided:?}");
                };
                closing.reason().to_owned()
            };
            assert!(!reason(&command).is_empty(), "{command_name}");
            if let Some(command) = with_reason(&command, &given) {
                assert_eq!(reason(&command), given.as_str(), "{command_name}");
            }
        }
    }
}

fn with_reason(command: &Command, given: &Reason) -> Option<Command> {
    let reason = Some(given.clone());
    match command {
        Command::Decline { .. } => Some(Command::Decline { reason }),
        Command::Withdraw { .. } => Some(Command::Withdraw { reason }),
        Command::Reprove { by, .. } => Some(Command::Reprove { by: *by, reason }),
        _ => None,
    }
}
