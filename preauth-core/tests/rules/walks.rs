//! Random lives: whatever is asked, in whatever order, certain things never happen.

use chrono::TimeDelta;
use preauth_core::operation::{
    Change, Command, CommandContext, Decision, Operation, ReprovedBy, State, decide, evolve,
};
use preauth_core::value::{DueDate, ExtensionId, OperationId, Reason, Status, Timestamp, calendar};
use proptest::prelude::*;

use crate::given::{cents, operation};

/// One thing that is asked, some time after the one before.
#[derive(Clone, Debug)]
struct Step {
    after: TimeDelta,
    command: Command,
    holder: Option<OperationId>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0_i64..86_400, command(), prop::bool::weighted(0.1));
    let step = step.prop_map(|(seconds, command, is_held)| Step {
        after: TimeDelta::seconds(seconds),
        command,
        holder: OperationId::new(2).filter(|_| is_held),
    });
    prop::collection::vec(step, 0..150)
}

fn command() -> impl Strategy<Value = Command> {
    let reason = || prop::option::of(Just(Reason::parse("motivo").unwrap()));
    let by = prop_oneof![Just(ReprovedBy::Company), Just(ReprovedBy::Platform)];
    let id = || (1_i64..4).prop_map(|id| ExtensionId::new(id).unwrap());
    let net = prop_oneof![4 => 1_i64..=990_000, 1 => Just(0), 1 => 990_001_i64..2_000_000];
    let day = (0_i64..400).prop_map(|days| {
        let base = crate::given::day("2026-12-01").date();
        DueDate::from_date(base + TimeDelta::days(days)).unwrap()
    });
    prop_oneof![
        20 => Just(Command::Request),
        1 => reason().prop_map(|reason| Command::Decline { reason }),
        1 => Just(Command::Cancel),
        1 => reason().prop_map(|reason| Command::Withdraw { reason }),
        1 => Just(Command::Expire),
        20 => Just(Command::Verify),
        10 => Just(Command::Approve),
        8 => net.prop_map(|net| Command::Release { net_amount: cents(net) }),
        8 => Just(Command::Pay),
        2 => Just(Command::ReturnPayout),
        8 => Just(Command::Bill),
        1 => Just(Command::Conclude),
        2 => (by, reason()).prop_map(|(by, reason)| Command::Reprove { by, reason }),
        8 => Just(Command::Reopen),
        4 => (id(), day, 0_i64..3).prop_map(|(id, new_due_date, total)| Command::CreateExtension {
            id,
            new_due_date,
            total_amount: cents(total),
        }),
        2 => id().prop_map(|id| Command::ConcludeExtension { id }),
        2 => id().prop_map(|id| Command::CancelExtension { id }),
    ]
}

fn beginning() -> impl Strategy<Value = Operation> {
    prop_oneof![
        Just(operation(State::InPreAuth)),
        Just(Operation {
            expires_at: None,
            origin: preauth_core::value::Origin::Direct,
            ..operation(State::InVerification)
        }),
    ]
}

proptest! {
    #[test]
    fn no_life_breaks_an_invariant(opening in beginning(), steps in steps()) {
        let mut operation = opening.clone();
        let mut recorded: Vec<Change> = Vec::new();
        let mut now = operation.created_at;
        let mut context = CommandContext::default();
        for step in steps {
            now = now.saturating_add(step.after);
            context.holder = step.holder;
            let decided = decide(&operation, &step.command, &context, now);
            let Ok(Decision::Change(change)) = decided else {
                continue;
            };
            let next = evolve(&operation, &change);
            check_step(&operation, &change, &next, now)?;
            go_on(&mut context, &change);
            recorded.push(change);
            operation = next;
        }
        let folded = recorded.iter().fold(opening, |state, change| evolve(&state, change));
        prop_assert_eq!(folded, operation);
    }
}

fn go_on(context: &mut CommandContext, change: &Change) {
    match change {
        Change::Closed(_) | Change::Reopened(_) => {}
        Change::ExtensionConcluded(extension) => {
            context.extended_to = Some(extension.new_due_date);
            context.reached = Some(change.event_type());
        }
        _ => context.reached = Some(change.event_type()),
    }
}

fn check_step(
    before: &Operation,
    change: &Change,
    after: &Operation,
    now: Timestamp,
) -> Result<(), TestCaseError> {
    // The end is the end.
    prop_assert_ne!(before.status(), Status::Concluded);
    // One change, one version, and nothing else moves but state and net amount.
    let same = Operation {
        version: before.version.next(),
        net_amount: after.net_amount,
        state: after.state.clone(),
        ..before.clone()
    };
    prop_assert_eq!(after, &same);
    // State and event cannot disagree.
    let row = change.action().transition();
    prop_assert!(row.from.contains(&before.status()));
    prop_assert!(row.to.contains(&after.status()));
    prop_assert_eq!(row.event, change.event_type());
    check_net_amount(after)?;
    check_boleto(after, now)?;
    if let State::Reproved(closing) = &after.state {
        prop_assert_eq!(closing.action, change.action());
        prop_assert!(!closing.reason().is_empty());
        prop_assert!(closing.stage().is_some());
    }
    Ok(())
}

fn check_net_amount(operation: &Operation) -> Result<(), TestCaseError> {
    let net = operation.net_amount;
    match operation.status() {
        Status::InPreAuth | Status::InVerification | Status::ToApprove | Status::InAnalysis => {
            prop_assert_eq!(net, None);
        }
        Status::ToPay | Status::ToBill | Status::ToReceive | Status::Concluded => {
            prop_assert!(net.is_some());
        }
        Status::Reproved => {}
    }
    if let Some(net) = net {
        prop_assert!(net.cents() > 0 && net <= operation.invoice.amounts.net_limit());
    }
    Ok(())
}

fn check_boleto(operation: &Operation, now: Timestamp) -> Result<(), TestCaseError> {
    if let State::ToReceive {
        boleto_due_date,
        extension,
    } = &operation.state
    {
        prop_assert!(*boleto_due_date >= operation.invoice.due_date);
        if let Some(open) = extension {
            prop_assert!(open.new_due_date > *boleto_due_date);
            prop_assert!(calendar::days_until(now, open.new_due_date.date()) <= 180);
            prop_assert!(open.total_amount.cents() > 0);
        }
    }
    Ok(())
}
