//! Changes of an existing operation: the outcome of a decision, and the input of `evolve`.

use crate::value::{DueDate, EventType, Money, Stage};

use super::{Action, Closing, Extension, ExtensionStatus, Resumed};

/// One recorded change, with the data that the new state needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum Change {
    /// The supplier asked for the advance.
    Requested,
    /// The invoice of a direct advance was verified.
    Verified,
    /// The company approved.
    Approved,
    /// The analysis released the payment.
    Released {
        /// Net amount to the supplier.
        net_amount: Money,
    },
    /// The supplier was paid.
    Paid,
    /// The bank returned the payment.
    PayoutReturned,
    /// The boleto was issued.
    Billed {
        /// When it falls due.
        due_date: DueDate,
    },
    /// The boleto was paid.
    Concluded,
    /// A reproved request was reopened.
    Reopened(Resumed),
    /// The operation was closed before its conclusion.
    Closed(Closing),
    /// An extension was requested.
    ExtensionCreated(Extension),
    /// The open extension was paid.
    ExtensionConcluded(Extension),
    /// The open extension was cancelled.
    ExtensionCanceled(Extension),
}

impl Change {
    /// The action of this change.
    #[must_use]
    pub const fn action(&self) -> Action {
        match self {
            Self::Requested => Action::Request,
            Self::Verified => Action::Verify,
            Self::Approved => Action::Approve,
            Self::Released { .. } => Action::Release,
            Self::Paid => Action::Pay,
            Self::PayoutReturned => Action::ReturnPayout,
            Self::Billed { .. } => Action::Bill,
            Self::Concluded => Action::Conclude,
            Self::Reopened(_) => Action::Reopen,
            Self::Closed(closing) => closing.action,
            Self::ExtensionCreated(_) => Action::CreateExtension,
            Self::ExtensionConcluded(_) => Action::ConcludeExtension,
            Self::ExtensionCanceled(_) => Action::CancelExtension,
        }
    }

    /// The type of the event that reports it.
    #[must_use]
    pub const fn event_type(&self) -> EventType {
        self.action().transition().event
    }

    /// The webhook's `stage`, when the change closes the operation.
    #[must_use]
    pub const fn stage(&self) -> Option<Stage> {
        self.action().transition().stage
    }

    /// How the change closes the operation, if it does.
    #[must_use]
    pub const fn closing(&self) -> Option<&Closing> {
        match self {
            Self::Closed(closing) => Some(closing),
            Self::Requested
            | Self::Verified
            | Self::Approved
            | Self::Released { .. }
            | Self::Paid
            | Self::PayoutReturned
            | Self::Billed { .. }
            | Self::Concluded
            | Self::Reopened(_)
            | Self::ExtensionCreated(_)
            | Self::ExtensionConcluded(_)
            | Self::ExtensionCanceled(_) => None,
        }
    }

    /// The extension that the change concerns and the status it has afterwards, if any.
    #[must_use]
    pub const fn extension(&self) -> Option<(&Extension, ExtensionStatus)> {
        match self {
            Self::ExtensionCreated(extension) => Some((extension, ExtensionStatus::Open)),
            Self::ExtensionConcluded(extension) => Some((extension, ExtensionStatus::Concluded)),
            Self::ExtensionCanceled(extension) => Some((extension, ExtensionStatus::Canceled)),
            Self::Requested
            | Self::Verified
            | Self::Approved
            | Self::Released { .. }
            | Self::Paid
            | Self::PayoutReturned
            | Self::Billed { .. }
            | Self::Concluded
            | Self::Reopened(_)
            | Self::Closed(_) => None,
        }
    }
}
