//! The transition table of operations, as data.
//!
//! The contract shows creation, cancellation and expiry; the other rows are this project's choice
//! for what the contract calls "not shown" (`docs/decisions.md`).

use crate::text_enum;
use crate::value::{EventType, Stage, Status};

/// One row: `action`, done by `by`, leads from any status of `from` to one of `to` and records `event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The action.
    pub action: Action,
    /// The party that may do it.
    pub by: By,
    /// Statuses in which it is permitted; empty for the two actions that create an operation.
    pub from: &'static [Status],
    /// The status afterwards; if several are listed, the one in which the operation was refused applies.
    pub to: &'static [Status],
    /// The one event recorded with it.
    pub event: EventType,
    /// The webhook's `stage`, for actions that close.
    pub stage: Option<Stage>,
    /// The webhook's `reason` when the actor gives none, for actions that close.
    pub default_reason: Option<&'static str>,
}

text_enum! {
    /// An action on an operation.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Action, "action" {
        /// The ERP offers an advance.
        Offer => "OFFER",
        /// The supplier advances an invoice directly.
        AdvanceDirectly => "ADVANCE_DIRECTLY",
        /// The supplier asks for the offered advance.
        Request => "REQUEST",
        /// The supplier declines the offer.
        Decline => "DECLINE",
        /// The ERP cancels the offer through the integration.
        Cancel => "CANCEL",
        /// The company withdraws the offer in the platform.
        Withdraw => "WITHDRAW",
        /// The offer expires.
        Expire => "EXPIRE",
        /// The platform verifies the invoice of a direct advance.
        Verify => "VERIFY",
        /// The company approves.
        Approve => "APPROVE",
        /// The platform releases for payment and sets the net amount.
        Release => "RELEASE",
        /// The platform pays the supplier.
        Pay => "PAY",
        /// The bank returns the payment.
        ReturnPayout => "RETURN_PAYOUT",
        /// The boleto is issued.
        Bill => "BILL",
        /// The boleto is paid.
        Conclude => "CONCLUDE",
        /// The company reproves the request.
        ReproveByCompany => "REPROVE_BY_COMPANY",
        /// The platform reproves the request.
        ReproveByPlatform => "REPROVE_BY_PLATFORM",
        /// The platform reopens a reproved request.
        Reopen => "REOPEN",
        /// An extension of the boleto is requested.
        CreateExtension => "CREATE_EXTENSION",
        /// The extension is paid.
        ConcludeExtension => "CONCLUDE_EXTENSION",
        /// The extension is cancelled.
        CancelExtension => "CANCEL_EXTENSION",
    }
}

/// The party that may do an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum By {
    /// The company's ERP, through the integration API.
    Erp,
    /// The company's staff, in the platform.
    Company,
    /// The supplier.
    Supplier,
    /// The platform operator or the bank.
    Platform,
    /// No party: time has passed.
    System,
}

use EventType as E;
use Status as S;

/// All permitted transitions, in the order of the actions; any other is refused and changes nothing.
pub const TRANSITIONS: [Transition; 20] = [
    begins(
        Action::Offer,
        By::Erp,
        &[S::InPreAuth],
        E::PreAuthorizationCreated,
    ),
    begins(
        Action::AdvanceDirectly,
        By::Supplier,
        &[S::InVerification],
        E::AnticipationCreated,
    ),
    moves(
        Action::Request,
        By::Supplier,
        &[S::InPreAuth],
        &[S::ToApprove],
        E::AnticipationRequested,
    ),
    closes(
        Action::Decline,
        By::Supplier,
        &[S::InPreAuth],
        E::PreAuthorizationDeclined,
        Stage::PreAuth,
        "Recusada pelo fornecedor",
    ),
    closes(
        Action::Cancel,
        By::Erp,
        &[S::InPreAuth],
        E::PreAuthorizationRevoked,
        Stage::PreAuth,
        "Cancelada via integração",
    ),
    closes(
        Action::Withdraw,
        By::Company,
        &[S::InPreAuth],
        E::PreAuthorizationRevoked,
        Stage::PreAuth,
        "Cancelada pela construtora",
    ),
    closes(
        Action::Expire,
        By::System,
        &[S::InPreAuth],
        E::PreAuthorizationExpired,
        Stage::System,
        "Pré-autorização expirada",
    ),
    moves(
        Action::Verify,
        By::Platform,
        &[S::InVerification],
        &[S::ToApprove],
        E::AnticipationRequested,
    ),
    moves(
        Action::Approve,
        By::Company,
        &[S::ToApprove],
        &[S::InAnalysis],
        E::AnticipationApproved,
    ),
    moves(
        Action::Release,
        By::Platform,
        &[S::InAnalysis],
        &[S::ToPay],
        E::AnticipationAnalysisApproved,
    ),
    moves(
        Action::Pay,
        By::Platform,
        &[S::ToPay],
        &[S::ToBill],
        E::AnticipationPaid,
    ),
    moves(
        Action::ReturnPayout,
        By::Platform,
        &[S::ToBill, S::ToReceive],
        &[S::ToPay],
        E::AnticipationPayoutReturned,
    ),
    moves(
        Action::Bill,
        By::Platform,
        &[S::ToBill],
        &[S::ToReceive],
        E::AnticipationBilled,
    ),
    moves(
        Action::Conclude,
        By::Platform,
        &[S::ToReceive],
        &[S::Concluded],
        E::AnticipationConcluded,
    ),
    closes(
        Action::ReproveByCompany,
        By::Company,
        &[S::InVerification, S::ToApprove],
        E::AnticipationReproved,
        Stage::Request,
        "Reprovada pela construtora",
    ),
    closes(
        Action::ReproveByPlatform,
        By::Platform,
        &[S::InVerification, S::ToApprove, S::InAnalysis, S::ToPay],
        E::AnticipationReproved,
        Stage::System,
        "Reprovada pela plataforma",
    ),
    moves(
        Action::Reopen,
        By::Platform,
        &[S::Reproved],
        &[S::InVerification, S::ToApprove, S::InAnalysis],
        E::AnticipationReopened,
    ),
    moves(
        Action::CreateExtension,
        By::Platform,
        &[S::ToReceive],
        &[S::ToReceive],
        E::AnticipationExtensionCreated,
    ),
    moves(
        Action::ConcludeExtension,
        By::Platform,
        &[S::ToReceive],
        &[S::ToReceive],
        E::AnticipationExtensionConcluded,
    ),
    moves(
        Action::CancelExtension,
        By::Platform,
        &[S::ToReceive],
        &[S::ToReceive],
        E::AnticipationExtensionCanceled,
    ),
];

impl Action {
    /// The row of [`TRANSITIONS`] for this action; there is exactly one.
    #[must_use]
    pub const fn transition(self) -> &'static Transition {
        #[expect(
            clippy::indexing_slicing,
            reason = "the compiler compares rows and actions below"
        )]
        &TRANSITIONS[self.row()]
    }

    #[expect(
        clippy::as_conversions,
        reason = "the position among the variants, from zero"
    )]
    const fn row(self) -> usize {
        self as usize
    }
}

// The rows are in the order of the actions.
#[expect(clippy::indexing_slicing, reason = "only the compiler runs it")]
const _: () = {
    assert!(TRANSITIONS.len() == Action::ALL.len());
    let mut row = 0;
    while row < TRANSITIONS.len() {
        assert!(TRANSITIONS[row].action.row() == row);
        row += 1;
    }
};

const fn begins(action: Action, by: By, to: &'static [Status], event: EventType) -> Transition {
    moves(action, by, &[], to, event)
}

const fn moves(
    action: Action,
    by: By,
    from: &'static [Status],
    to: &'static [Status],
    event: EventType,
) -> Transition {
    Transition {
        action,
        by,
        from,
        to,
        event,
        stage: None,
        default_reason: None,
    }
}

const fn closes(
    action: Action,
    by: By,
    from: &'static [Status],
    event: EventType,
    stage: Stage,
    default_reason: &'static str,
) -> Transition {
    Transition {
        action,
        by,
        from,
        to: &[Status::Reproved],
        event,
        stage: Some(stage),
        default_reason: Some(default_reason),
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, TRANSITIONS};

    #[test]
    fn every_action_finds_its_own_row() {
        for row in &TRANSITIONS {
            assert_eq!(row.action.transition(), row);
            assert_eq!(Action::parse(row.action.as_str()), Ok(row.action));
        }
    }

    #[test]
    fn exactly_the_closing_rows_have_a_stage_and_a_default_reason() {
        for row in &TRANSITIONS {
            let closes = row.to == [crate::value::Status::Reproved];
            assert_eq!(row.stage.is_some(), closes, "{row:?}");
            assert_eq!(row.default_reason.is_some(), closes, "{row:?}");
        }
    }
}
