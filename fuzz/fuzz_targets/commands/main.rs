//! For any sequence of commands: the operation's invariants hold.
//!
//! The input is a script in letters, one command each, so that the corpus is readable: `o` or `d`
//! begins (an offer, a direct advance), [`Script::step`] lists the others. Bytes without a meaning
//! are skipped.

#![no_main]

mod script;

use libfuzzer_sys::fuzz_target;
use preauth_core::operation::{
    Action, Change, Command, CommandContext, Decision, Operation, Rejection, State, decide, evolve,
};
use preauth_core::value::{Money, OperationId, Origin, Status, Timestamp};
use script::{Script, Step};

fuzz_target!(|input: &[u8]| {
    let mut script = Script::new(input);
    let first = script.beginning();
    let mut operation = first.clone();
    let mut changes = Vec::new();
    let mut context = CommandContext::default();
    while let Some(step) = script.step(&operation) {
        let Step {
            command,
            holder,
            now,
        } = step;
        context.holder = holder;
        let decided = decide(&operation, &command, &context, now);
        assert_eq!(decided, decide(&operation, &command, &context, now));
        match decided {
            Ok(Decision::Change(change)) => {
                let next = evolve(&operation, &change);
                the_table_allows(&operation, &command, &change, &next);
                agreed_values_never_change(&operation, &next);
                the_data_of_a_status_is_present(&next);
                only_the_end_of_time_expires(&operation, &change, now);
                go_on(&mut context, &change);
                changes.push(change);
                operation = next;
            }
            Ok(Decision::Unchanged) => only_a_repeated_cancel_changes_nothing(&operation, &command),
            Err(rejection) => the_refusal_fits(&operation, holder, rejection),
        }
    }
    assert_eq!(
        changes
            .iter()
            .fold(first, |state, change| evolve(&state, change)),
        operation
    );
});

/// Updates what later commands read besides the operation.
fn go_on(context: &mut CommandContext, change: &Change) {
    if !matches!(change, Change::Closed(_) | Change::Reopened(_)) {
        context.reached = Some(change.event_type());
    }
    if let Change::ExtensionConcluded(extension) = change {
        context.extended_to = Some(extension.new_due_date);
    }
}

fn the_table_allows(before: &Operation, command: &Command, change: &Change, after: &Operation) {
    assert_eq!(change.action(), command.action());
    let row = command.action().transition();
    assert!(row.from.contains(&before.status()));
    assert!(row.to.contains(&after.status()));
    assert_eq!(row.event, change.event_type());
    assert_ne!(before.status(), Status::Concluded);
    if before.status() == Status::Reproved {
        let by = before.closing().map(|closing| closing.action);
        let is_reproved = matches!(
            by,
            Some(Action::ReproveByCompany | Action::ReproveByPlatform)
        );
        assert!(*command == Command::Reopen && is_reproved);
        assert!(after.net_amount.is_none());
    }
    // A closing event carries its reason.
    assert_eq!(
        change.closing().is_some(),
        after.status() == Status::Reproved
    );
    assert_eq!(change.stage().is_some(), change.closing().is_some());
    assert!(
        change
            .closing()
            .is_none_or(|closing| !closing.reason().is_empty())
    );
    assert_eq!(change.closing(), after.closing());
}

fn agreed_values_never_change(before: &Operation, after: &Operation) {
    assert_eq!(after.version.get(), before.version.get() + 1);
    let mut same = after.clone();
    same.version = before.version;
    same.state = before.state.clone();
    same.net_amount = before.net_amount;
    assert_eq!(same, *before);
}

fn the_data_of_a_status_is_present(operation: &Operation) {
    let (net, limit) = (operation.net_amount, operation.invoice.amounts.net_limit());
    assert!(net.is_none_or(|net| net > Money::ZERO && net <= limit));
    match &operation.state {
        State::InPreAuth | State::InVerification | State::ToApprove | State::InAnalysis => {
            assert_eq!(net, None);
        }
        State::ToPay | State::ToBill | State::Concluded => assert!(net.is_some()),
        State::ToReceive {
            boleto_due_date,
            extension,
        } => {
            assert!(net.is_some());
            assert!(*boleto_due_date >= operation.invoice.due_date);
            assert!(extension.is_none_or(|open| open.new_due_date > *boleto_due_date));
            assert!(extension.is_none_or(|open| open.total_amount > Money::ZERO));
        }
        State::Reproved(_) => {}
    }
    let may_be_verified = operation.status() == Status::InVerification;
    assert!(!may_be_verified || operation.origin == Origin::Direct);
}

fn only_the_end_of_time_expires(before: &Operation, change: &Change, now: Timestamp) {
    if change.action() == Action::Expire {
        assert!(before.expires_at.is_some_and(|end| end < now));
    }
}

fn only_a_repeated_cancel_changes_nothing(operation: &Operation, command: &Command) {
    assert_eq!(*command, Command::Cancel);
    let closed_by = operation.closing().map(|closing| closing.action);
    assert_eq!(closed_by, Some(Action::Cancel));
}

fn the_refusal_fits(operation: &Operation, holder: Option<OperationId>, rejection: Rejection) {
    let status = operation.status();
    match rejection {
        Rejection::InvalidTransition { status: reported } => assert_eq!(reported, status),
        Rejection::DuplicateInvoice { existing } => assert_eq!(holder, Some(existing)),
        Rejection::AlreadyClosed => assert_eq!(status, Status::Reproved),
        Rejection::AlreadyRequested => {
            assert!(!matches!(status, Status::InPreAuth | Status::Reproved));
        }
        Rejection::NetAmountOutOfRange => assert_eq!(status, Status::InAnalysis),
        Rejection::ExtensionNotOpen
        | Rejection::ExtensionDueDateOutOfRange
        | Rejection::ExtensionTotalOutOfRange => assert_eq!(status, Status::ToReceive),
        other => panic!("{other:?} is a refusal of offers"),
    }
    assert!(!rejection.to_string().is_empty());
}
