//! The net amount: set by the release, bounded, kept, and taken away again by a reopening.

use preauth_core::operation::{
    Action, Closing, Command, CommandContext, Decision, Operation, Rejection, State, decide, evolve,
};
use preauth_core::value::{EventType, OperationId};

use crate::given::{cents, moment, operation};

fn after(operation: &Operation, command: &Command) -> Operation {
    let now = moment("2026-12-01T12:00:00.000Z");
    let context = CommandContext {
        reached: Some(EventType::AnticipationPayoutReturned),
        ..CommandContext::default()
    };
    match decide(operation, command, &context, now).unwrap() {
        Decision::Change(change) => evolve(operation, &change),
        Decision::Unchanged => panic!("{command:?} changes nothing"),
    }
}

#[test]
fn the_net_amount_lies_above_zero_and_within_the_amount_less_the_withheld_tax() {
    let cases = [
        (0, false),
        (1, true),
        (990_000, true),
        (990_001, false),
        (i64::MAX, false),
    ];
    let now = moment("2026-12-01T12:00:00.000Z");
    for (net, fits) in cases {
        let release = Command::Release {
            net_amount: cents(net),
        };
        let decided = decide(
            &operation(State::InAnalysis),
            &release,
            &CommandContext::default(),
            now,
        );
        if fits {
            assert!(decided.is_ok(), "{net}");
        } else {
            assert_eq!(decided, Err(Rejection::NetAmountOutOfRange), "{net}");
        }
    }
}

// Contract: transition/net-amount
#[test]
fn the_net_amount_stays_through_a_returned_payout_and_a_reproval_and_goes_with_a_reopening() {
    let net_amount = cents(900_000);
    let released = after(
        &operation(State::InAnalysis),
        &Command::Release { net_amount },
    );
    assert_eq!(released.net_amount, Some(net_amount));
    let returned = after(&after(&released, &Command::Pay), &Command::ReturnPayout);
    assert_eq!(returned.net_amount, Some(net_amount));
    let reprove = Command::Reprove {
        by: preauth_core::operation::ReprovedBy::Platform,
        reason: None,
    };
    let reproved = after(&returned, &reprove);
    assert_eq!(reproved.net_amount, Some(net_amount));
    let reopened = after(&reproved, &Command::Reopen);
    assert_eq!(
        (reopened.net_amount, reopened.state),
        (None, State::InAnalysis)
    );
}

#[test]
fn a_reopening_is_refused_while_another_operation_holds_the_invoice() {
    let now = moment("2026-12-01T12:00:00.000Z");
    let existing = OperationId::new(2).unwrap();
    let held = CommandContext {
        holder: Some(existing),
        ..CommandContext::default()
    };
    let closed = |action| {
        operation(State::Reproved(Closing {
            action,
            given_reason: None,
        }))
    };
    let reproved = closed(Action::ReproveByCompany);
    let refused = decide(&reproved, &Command::Reopen, &held, now);
    assert_eq!(refused, Err(Rejection::DuplicateInvoice { existing }));
    // An operation that no reproval closed is not reopened, held or not.
    let declined = closed(Action::Decline);
    let refused = decide(&declined, &Command::Reopen, &held, now);
    let status = declined.status();
    assert_eq!(refused, Err(Rejection::InvalidTransition { status }));
}

#[test]
fn nothing_but_a_reopening_looks_at_the_holder() {
    let now = moment("2026-12-01T12:00:00.000Z");
    let held = CommandContext {
        holder: OperationId::new(2),
        ..CommandContext::default()
    };
    let offered = operation(State::InPreAuth);
    let with = decide(&offered, &Command::Request, &held, now);
    assert_eq!(
        with,
        decide(&offered, &Command::Request, &CommandContext::default(), now)
    );
}
