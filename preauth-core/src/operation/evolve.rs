//! The only place where an operation changes its state.
//!
//! A new operation comes from [`decide_offer`](super::decide_offer()) or
//! [`decide_direct_advance`](super::decide_direct_advance) instead.

use super::{Change, Operation, State};

/// Applies `change`, which [`decide`](super::decide()) returned for this operation in this version.
#[must_use]
pub fn evolve(operation: &Operation, change: &Change) -> Operation {
    let mut next = operation.clone();
    next.version = operation.version.next();
    match change {
        Change::Requested | Change::Verified => next.state = State::ToApprove,
        Change::Approved => next.state = State::InAnalysis,
        Change::Released { net_amount } => {
            next.net_amount = Some(*net_amount);
            next.state = State::ToPay;
        }
        Change::Paid => next.state = State::ToBill,
        Change::PayoutReturned => next.state = State::ToPay,
        Change::Billed { due_date } => {
            next.state = State::ToReceive {
                boleto_due_date: *due_date,
                extension: None,
            };
        }
        Change::Concluded => next.state = State::Concluded,
        Change::Reopened(resumed) => {
            next.net_amount = None;
            next.state = resumed.state();
        }
        Change::Closed(closing) => next.state = State::Reproved(closing.clone()),
        Change::ExtensionCreated(created) => {
            if let State::ToReceive { extension, .. } = &mut next.state {
                *extension = Some(*created);
            }
        }
        Change::ExtensionConcluded(concluded) => {
            next.state = State::ToReceive {
                boleto_due_date: concluded.new_due_date,
                extension: None,
            };
        }
        Change::ExtensionCanceled(_) => {
            if let State::ToReceive { extension, .. } = &mut next.state {
                *extension = None;
            }
        }
    }
    next
}
