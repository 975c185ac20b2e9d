//! Decides commands on existing operations, without side effects.

use crate::value::{DueDate, Money, Reason, Timestamp, calendar};

use super::term::LATEST_DUE_DAYS;
use super::{
    Action, Change, Closing, Command, CommandContext, Extension, Operation, Rejection, ReprovedBy,
    Resumed, State, TRANSITIONS,
};

/// The outcome of a command that was not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The operation changes; one event reports it.
    Change(Change),
    /// The operation already has the requested state: no change, no event.
    Unchanged,
}

/// Decides a command against an operation at `now`; has no side effects.
///
/// An overdue offer must have its expiry recorded first: the caller sends
/// [`Command::Expire`] on its own and decides again.
pub fn decide(
    operation: &Operation,
    command: &Command,
    context: &CommandContext,
    now: Timestamp,
) -> Result<Decision, Rejection> {
    if let Command::Cancel = command
        && let Some(answer) = cancel_outside_the_offer(operation)
    {
        return answer;
    }
    let status = operation.status();
    let action = command.action();
    if !action.transition().from.contains(&status) {
        return Err(Rejection::InvalidTransition { status });
    }
    let change = match command {
        Command::Request => Change::Requested,
        Command::Verify => Change::Verified,
        Command::Approve => Change::Approved,
        Command::Release { net_amount } => release(operation, *net_amount)?,
        Command::Pay => pay(context)?,
        Command::ReturnPayout => unless_extension_is_open(operation, Change::PayoutReturned)?,
        Command::Bill => Change::Billed {
            due_date: context.extended_to.unwrap_or(operation.invoice.due_date),
        },
        Command::Conclude => unless_extension_is_open(operation, Change::Concluded)?,
        Command::Decline { reason }
        | Command::Withdraw { reason }
        | Command::Reprove {
            by: ReprovedBy::Company | ReprovedBy::Platform,
            reason,
        } => close(action, reason.clone()),
        Command::Cancel => close(action, None),
        Command::Expire if operation.is_overdue(now) => close(action, None),
        Command::Expire => return Err(Rejection::InvalidTransition { status }),
        Command::Reopen => reopen(operation, context)?,
        Command::CreateExtension {
            id,
            new_due_date,
            total_amount,
        } => {
            let extension = Extension {
                id: *id,
                new_due_date: *new_due_date,
                total_amount: *total_amount,
            };
            create_extension(operation, extension, now)?
        }
        Command::ConcludeExtension { id } => {
            Change::ExtensionConcluded(open_extension(operation, |open| open.id == *id)?)
        }
        Command::CancelExtension { id } => {
            Change::ExtensionCanceled(open_extension(operation, |open| open.id == *id)?)
        }
    };
    Ok(Decision::Change(change))
}

/// The actions that the operation's present state permits to others than the ERP and the passing of time.
/// What an action asks for, or another record, may still be refused.
pub fn possible_actions(operation: &Operation) -> impl Iterator<Item = Action> {
    let status = operation.status();
    let has_open_extension = open_extension(operation, |_| true).is_ok();
    let is_reproved = operation.closing().is_some_and(Closing::is_reproval);
    let is_possible = move |action: Action| match action {
        Action::Offer | Action::AdvanceDirectly | Action::Cancel | Action::Expire => false,
        Action::Request
        | Action::Decline
        | Action::Withdraw
        | Action::Verify
        | Action::Approve
        | Action::Release
        | Action::Pay
        | Action::Bill
        | Action::ReproveByCompany
        | Action::ReproveByPlatform => true,
        Action::ReturnPayout | Action::Conclude | Action::CreateExtension => !has_open_extension,
        Action::ConcludeExtension | Action::CancelExtension => has_open_extension,
        Action::Reopen => is_reproved,
    };
    let rows = TRANSITIONS.iter();
    rows.filter(move |row| row.from.contains(&status))
        .map(|row| row.action)
        .filter(move |action| is_possible(*action))
}

/// The outcomes of cancel that do not cancel the operation ([contract, "Cancel
/// refusals"](https://example.com/preauth/blob/main/docs/reference.md#cancel-refusals)).
fn cancel_outside_the_offer(operation: &Operation) -> Option<Result<Decision, Rejection>> {
    match &operation.state {
        State::InPreAuth => None,
        State::Reproved(closing) if closing.action == Action::Cancel => {
            Some(Ok(Decision::Unchanged))
        }
        State::Reproved(_) => Some(Err(Rejection::AlreadyClosed)),
        State::InVerification
        | State::ToApprove
        | State::InAnalysis
        | State::ToPay
        | State::ToBill
        | State::ToReceive { .. }
        | State::Concluded => Some(Err(Rejection::AlreadyRequested)),
    }
}

fn close(action: Action, given_reason: Option<Reason>) -> Change {
    Change::Closed(Closing {
        action,
        given_reason,
    })
}

fn release(operation: &Operation, net_amount: Money) -> Result<Change, Rejection> {
    let limit = operation.invoice.amounts.net_limit();
    if net_amount == Money::ZERO || net_amount > limit {
        return Err(Rejection::NetAmountOutOfRange);
    }
    Ok(Change::Released { net_amount })
}

fn pay(context: &CommandContext) -> Result<Change, Rejection> {
    let is_own_release =
        context.released_by.is_some() && context.released_by == context.under_four_eyes;
    if is_own_release {
        return Err(Rejection::OwnRelease);
    }
    Ok(Change::Paid)
}

fn reopen(operation: &Operation, context: &CommandContext) -> Result<Change, Rejection> {
    if !operation.closing().is_some_and(Closing::is_reproval) {
        return Err(Rejection::InvalidTransition {
            status: operation.status(),
        });
    }
    if let Some(existing) = context.holder {
        return Err(Rejection::DuplicateInvoice { existing });
    }
    let resumed = Resumed::after(context.reached, operation.origin);
    Ok(Change::Reopened(resumed))
}

fn unless_extension_is_open(operation: &Operation, change: Change) -> Result<Change, Rejection> {
    match open_extension(operation, |_| true) {
        Ok(_) => Err(Rejection::InvalidTransition {
            status: operation.status(),
        }),
        Err(_) => Ok(change),
    }
}

fn open_extension(
    operation: &Operation,
    is_meant: impl Fn(&Extension) -> bool,
) -> Result<Extension, Rejection> {
    match &operation.state {
        State::ToReceive {
            extension: Some(open),
            ..
        } if is_meant(open) => Ok(*open),
        State::ToReceive { .. }
        | State::InPreAuth
        | State::InVerification
        | State::ToApprove
        | State::InAnalysis
        | State::ToPay
        | State::ToBill
        | State::Concluded
        | State::Reproved(_) => Err(Rejection::ExtensionNotOpen),
    }
}

fn create_extension(
    operation: &Operation,
    extension: Extension,
    now: Timestamp,
) -> Result<Change, Rejection> {
    let status = operation.status();
    let State::ToReceive {
        boleto_due_date,
        extension: None,
    } = &operation.state
    else {
        return Err(Rejection::InvalidTransition { status });
    };
    if !is_later_within_the_limit(extension.new_due_date, *boleto_due_date, now) {
        return Err(Rejection::ExtensionDueDateOutOfRange);
    }
    if extension.total_amount == Money::ZERO {
        return Err(Rejection::ExtensionTotalOutOfRange);
    }
    Ok(Change::ExtensionCreated(extension))
}

fn is_later_within_the_limit(new: DueDate, boleto: DueDate, now: Timestamp) -> bool {
    new > boleto && calendar::days_until(now, new.date()) <= LATEST_DUE_DAYS
}
