//! Extensions of the boleto: bounds, one at a time, and what an open one keeps from happening.

use preauth_core::operation::{
    Command, CommandContext, Decision, Extension, Operation, Rejection, State, decide, evolve,
};
use preauth_core::value::{DueDate, ExtensionId, Timestamp};

use crate::given::{cents, day, extension, moment, operation};

/// A quarter past nine in the evening of 2027-01-10 in São Paulo; the day after in UTC.
const NOW: &str = "2027-01-11T00:15:00.000Z";
/// 180 days after 2027-01-10.
const FARTHEST: &str = "2027-07-09";

fn billed() -> Operation {
    operation(State::ToReceive {
        boleto_due_date: day("2027-03-01"),
        extension: None,
    })
}

fn create(new_due_date: DueDate, total_cents: i64) -> Command {
    Command::CreateExtension {
        id: extension().id,
        new_due_date,
        total_amount: cents(total_cents),
    }
}

fn now() -> Timestamp {
    moment(NOW)
}

fn after(operation: &Operation, command: &Command) -> Operation {
    let decided = decide(operation, command, &CommandContext::default(), now()).unwrap();
    let Decision::Change(change) = decided else {
        panic!("{command:?} changes nothing");
    };
    evolve(operation, &change)
}

#[test]
fn an_extension_ends_after_the_boleto_and_at_most_180_days_ahead() {
    let cases = [
        ("2027-02-28", false),
        ("2027-03-01", false),
        ("2027-03-02", true),
        (FARTHEST, true),
        ("2027-07-10", false),
        ("9999-12-31", false),
    ];
    for (new_due_date, fits) in cases {
        let decided = decide(
            &billed(),
            &create(day(new_due_date), 1),
            &CommandContext::default(),
            now(),
        );
        if fits {
            assert!(decided.is_ok(), "{new_due_date}");
        } else {
            let refused = Err(Rejection::ExtensionDueDateOutOfRange);
            assert_eq!(decided, refused, "{new_due_date}");
        }
    }
}

#[test]
fn an_extension_has_a_total_above_zero() {
    let refused = decide(
        &billed(),
        &create(day("2027-04-01"), 0),
        &CommandContext::default(),
        now(),
    );
    assert_eq!(refused, Err(Rejection::ExtensionTotalOutOfRange));
}

// Contract: operation-event/invoice.dueDate
#[test]
fn only_a_concluded_extension_moves_the_boleto_and_none_moves_the_invoice() {
    let opened = after(&billed(), &create(day("2027-04-01"), 1));
    let id = extension().id;
    let cancelled = after(&opened, &Command::CancelExtension { id });
    let concluded = after(&opened, &Command::ConcludeExtension { id });
    let boleto = |operation: &Operation| match &operation.state {
        State::ToReceive {
            boleto_due_date,
            extension,
        } => (*boleto_due_date, extension.is_some()),
        other => panic!("{other:?}"),
    };
    assert_eq!(boleto(&opened), (day("2027-03-01"), true));
    assert_eq!(boleto(&cancelled), (day("2027-03-01"), false));
    assert_eq!(boleto(&concluded), (day("2027-04-01"), false));
    for operation in [opened, cancelled, concluded.clone()] {
        assert_eq!(operation.invoice.due_date, day("2027-03-01"));
    }
    // The next one must end after the extended boleto.
    let refused = decide(
        &concluded,
        &create(day("2027-04-01"), 1),
        &CommandContext::default(),
        now(),
    );
    assert_eq!(refused, Err(Rejection::ExtensionDueDateOutOfRange));
}

#[test]
fn only_the_open_extension_can_be_concluded_or_cancelled() {
    let opened = after(&billed(), &create(day("2027-04-01"), 1));
    let id = ExtensionId::new(extension().id.get() + 1).unwrap();
    for command in [
        Command::ConcludeExtension { id },
        Command::CancelExtension { id },
    ] {
        let refused = decide(&opened, &command, &CommandContext::default(), now());
        assert_eq!(refused, Err(Rejection::ExtensionNotOpen));
    }
}

#[test]
fn the_event_reports_the_extension_it_is_about() {
    let command = create(day("2027-04-01"), 7);
    let Ok(Decision::Change(change)) =
        decide(&billed(), &command, &CommandContext::default(), now())
    else {
        panic!("not created");
    };
    let expected = Extension {
        id: extension().id,
        new_due_date: day("2027-04-01"),
        total_amount: cents(7),
    };
    assert_eq!(
        change.extension().map(|(extension, _)| *extension),
        Some(expected)
    );
}
