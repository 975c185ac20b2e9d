//! Derives the change from what its event reports.

use crate::operation::{
    Action, Change, Closing, CommandContext, Extension, Operation, Resumed, State, TRANSITIONS,
    Transition, evolve,
};
use crate::port::{DecodedOperation, StoredEvent};
use crate::value::{DueDate, Origin, Reason, Version};

/// What decides about the next change besides the operation.
#[derive(Default)]
pub(super) struct Known {
    pub(super) context: CommandContext,
    /// The date of the concluded extension with the greatest id, by which earlier builds issued boletos.
    pub(super) extended_by_id: Option<DueDate>,
}

/// The operation's initial state, if its first event is one that begins an operation.
pub(super) fn beginning(stored: &Operation, first: &StoredEvent) -> Option<Operation> {
    let row = TRANSITIONS
        .iter()
        .find(|row| row.from.is_empty() && row.event == first.event_type)?;
    let (state, origin) = if row.action == Action::Offer {
        (State::InPreAuth, Origin::PreAuth)
    } else {
        (State::InVerification, Origin::Direct)
    };
    let is_one = stored.origin == origin
        && stored.created_at == first.at
        && stored.expires_at.is_some() == (origin == Origin::PreAuth);
    is_one.then(|| Operation {
        version: Version::INITIAL,
        net_amount: None,
        state,
        ..stored.clone()
    })
}

/// Every state that `event` may lead to from one of `before`, each with its change.
///
/// There is more than one only where a given reason equals the default reason: the stored state
/// distinguishes the two, the body does not.
pub(super) fn step(
    before: &[Operation],
    known: &Known,
    event: &StoredEvent,
    decoded: &DecodedOperation,
) -> Vec<(Operation, Change)> {
    let mut after: Vec<(Operation, Change)> = Vec::new();
    for operation in before {
        for change in changes(operation, known, event, decoded) {
            let next = evolve(operation, &change);
            if after.iter().all(|(other, _)| *other != next) {
                after.push((next, change));
            }
        }
    }
    after
}

fn changes(
    from: &Operation,
    known: &Known,
    event: &StoredEvent,
    decoded: &DecodedOperation,
) -> Vec<Change> {
    let rows = TRANSITIONS.iter().filter(|row| {
        row.event == event.event_type
            && row.from.contains(&from.status())
            && row.to.contains(&decoded.status)
            && row.stage == decoded.stage
    });
    rows.flat_map(|row| changes_of(row, from, known, decoded))
        .collect()
}

fn changes_of(
    row: &Transition,
    from: &Operation,
    known: &Known,
    decoded: &DecodedOperation,
) -> Vec<Change> {
    let open = open_extension(from);
    let unless_open = |change| (open.is_none()).then_some(change);
    let same_open = decoded
        .extension
        .filter(|extension| open == Some(*extension));
    let change = match row.action {
        Action::Offer | Action::AdvanceDirectly => None,
        Action::Request => Some(Change::Requested),
        Action::Verify => Some(Change::Verified),
        Action::Approve => Some(Change::Approved),
        Action::Release => decoded
            .net_amount
            .map(|net_amount| Change::Released { net_amount }),
        Action::Pay => Some(Change::Paid),
        Action::ReturnPayout => unless_open(Change::PayoutReturned),
        Action::Bill => return boletos(from, known),
        Action::Conclude => unless_open(Change::Concluded),
        Action::Reopen => return reopenings(from, &known.context, decoded),
        Action::CreateExtension => decoded
            .extension
            .map(Change::ExtensionCreated)
            .and_then(unless_open),
        Action::ConcludeExtension => same_open.map(Change::ExtensionConcluded),
        Action::CancelExtension => same_open.map(Change::ExtensionCanceled),
        Action::Decline
        | Action::Cancel
        | Action::Withdraw
        | Action::Expire
        | Action::ReproveByCompany
        | Action::ReproveByPlatform => return closings(row, decoded),
    };
    change.into_iter().collect()
}

/// The boleto falls due on the latest date of the concluded extensions; before that rule existed, on that of the one
/// with the greatest id, and before that always with the invoice.
fn boletos(from: &Operation, known: &Known) -> Vec<Change> {
    let extended_to = known.context.extended_to;
    let before = known.extended_by_id.filter(|it| Some(*it) != extended_to);
    let extended = extended_to.into_iter().chain(before);
    let due_dates = extended.chain([from.invoice.due_date]);
    due_dates
        .map(|due_date| Change::Billed { due_date })
        .collect()
}

/// An operation is reopened where it was refused; before that rule existed, always in analysis.
fn reopenings(
    from: &Operation,
    context: &CommandContext,
    decoded: &DecodedOperation,
) -> Vec<Change> {
    let resumed = [
        Resumed::after(context.reached, from.origin),
        Resumed::Analysis,
    ];
    let resumed = resumed.into_iter().find(|it| it.status() == decoded.status);
    let change = resumed.map(Change::Reopened);
    change.filter(|_| was_reproved(from)).into_iter().collect()
}

/// The closings that an event may report: without a reason if the default one is reported, and with the
/// reported one unless the action takes none (cancel, expire).
fn closings(row: &Transition, decoded: &DecodedOperation) -> Vec<Change> {
    let closed = |given_reason| {
        Change::Closed(Closing {
            action: row.action,
            given_reason,
        })
    };
    let is_default = decoded.reason.as_deref() == row.default_reason;
    let without = is_default.then(|| closed(None));
    let is_fixed = matches!(row.action, Action::Cancel | Action::Expire);
    let given = decoded.reason.as_deref().filter(|_| !is_fixed);
    let given = given.and_then(|reason| Reason::from_stored(reason).ok());
    without
        .into_iter()
        .chain(given.map(|reason| closed(Some(reason))))
        .collect()
}

fn open_extension(operation: &Operation) -> Option<Extension> {
    match &operation.state {
        State::ToReceive { extension, .. } => *extension,
        State::InPreAuth
        | State::InVerification
        | State::ToApprove
        | State::InAnalysis
        | State::ToPay
        | State::ToBill
        | State::Concluded
        | State::Reproved(_) => None,
    }
}

fn was_reproved(operation: &Operation) -> bool {
    operation.closing().is_some_and(|closing| {
        matches!(
            closing.action,
            Action::ReproveByCompany | Action::ReproveByPlatform
        )
    })
}
