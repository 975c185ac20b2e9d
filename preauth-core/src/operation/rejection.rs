//! Why a command was refused: one variant for each cause that a caller can handle.

use thiserror::Error;

use crate::ErrorCode;
use crate::value::{OperationId, Status};

/// A refusal by the business rules. Nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum Rejection {
    /// The due date lies less than 5 days ahead.
    #[error("due date is less than 5 days ahead")]
    DueDateTooNear,
    /// The due date lies more than 180 days ahead.
    #[error("due date is more than 180 days ahead")]
    DueDateTooFar,
    /// The supplier is the company itself or one of its branches.
    #[error("supplier belongs to the caller's company")]
    SupplierIsSelf,
    /// The supplier is in the company's block list.
    #[error("supplier is blocked by the company")]
    SupplierBlocked,
    /// The supplier is neither registered nor invited by the company, and name or contact name are
    /// missing.
    #[error("supplier is new and its name or contact name is missing")]
    SupplierNameRequired,
    /// The term is longer than the company's credit analysis allows.
    #[error("term exceeds the credit analysis")]
    CreditTermExceeded,
    /// The amount is above what the company's credit analysis allows, or there is no credit analysis.
    #[error("amount exceeds the credit analysis")]
    CreditAmountExceeded,
    /// An operation in progress holds the same invoice of the same supplier.
    #[error("operation {existing} in progress holds the same invoice")]
    DuplicateInvoice {
        /// The operation that holds the invoice.
        existing: OperationId,
    },
    /// There is no such operation, or it is not the caller's.
    #[error("no such operation")]
    NotFound,
    /// Cancel: the supplier already requested the advance.
    #[error("the supplier already requested the advance")]
    AlreadyRequested,
    /// Cancel: closed by something other than a cancellation through the integration.
    #[error("the operation is already closed")]
    AlreadyClosed,
    /// The transition table has no row for this action in this status.
    #[error("not possible while {status}")]
    InvalidTransition {
        /// The operation's status at the decision.
        status: Status,
    },
    /// The net amount is zero or above the amount less the withheld tax.
    #[error("net amount is zero or above the amount less the withheld tax")]
    NetAmountOutOfRange,
    /// The extension's new due date is not after the boleto's, or over 180 days ahead.
    #[error("new due date is not after the boleto's due date or is over 180 days ahead")]
    ExtensionDueDateOutOfRange,
    /// The extension's total is zero.
    #[error("total amount of an extension must be above zero")]
    ExtensionTotalOutOfRange,
    /// The extension is not the open one of its operation.
    #[error("the extension is not open")]
    ExtensionNotOpen,
    /// The operator who released the operation may not pay it, too.
    #[error("the operator who released the operation may not pay it")]
    OwnRelease,
}

crate::explained::explained!(Rejection);

impl Rejection {
    /// The error code of API responses for it.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::DueDateTooNear => ErrorCode::AnticipationInvalidDueDate,
            Self::DueDateTooFar => ErrorCode::AnticipationDueDateTooFar,
            Self::SupplierIsSelf => ErrorCode::PreAuthSupplierSelf,
            Self::SupplierBlocked => ErrorCode::PreAuthSupplierBlocked,
            Self::SupplierNameRequired => ErrorCode::PreAuthSupplierNameRequired,
            Self::CreditTermExceeded => ErrorCode::CreditAnalysisDueDateExceeded,
            Self::CreditAmountExceeded => ErrorCode::CreditAnalysisInvoiceAmountExceeded,
            Self::DuplicateInvoice { .. } => ErrorCode::PreAuthDuplicateInvoice,
            Self::NotFound => ErrorCode::AnticipationNotFound,
            Self::AlreadyRequested => ErrorCode::PreAuthAlreadyRequested,
            Self::AlreadyClosed => ErrorCode::PreAuthAlreadyClosed,
            Self::InvalidTransition { .. } | Self::ExtensionNotOpen => {
                ErrorCode::AnticipationInvalidTransition
            }
            Self::OwnRelease => ErrorCode::FourEyesRequired,
            Self::NetAmountOutOfRange
            | Self::ExtensionDueDateOutOfRange
            | Self::ExtensionTotalOutOfRange => ErrorCode::ValidationError,
        }
    }
}
