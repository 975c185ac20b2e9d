//! The transitions of an operation, written a second time, from the decisions.

use crate::value::{EventType, Status};

/// All deeds on an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Request,
    Decline,
    Cancel,
    Withdraw,
    Expire,
    Verify,
    Approve,
    Release,
    Pay,
    ReturnPayout,
    Bill,
    Conclude,
    ReproveByCompany,
    ReproveByPlatform,
    Reopen,
    CreateExtension,
    ConcludeExtension,
    CancelExtension,
}

impl Deed {
    /// Deeds that lead to late statuses are listed more than once, so that random scripts reach these.
    pub(super) const ALL: [Self; 24] = [
        Self::Request,
        Self::Request,
        Self::Decline,
        Self::Cancel,
        Self::Cancel,
        Self::Withdraw,
        Self::Expire,
        Self::Verify,
        Self::Approve,
        Self::Approve,
        Self::Release,
        Self::Release,
        Self::Pay,
        Self::Pay,
        Self::ReturnPayout,
        Self::Bill,
        Self::Bill,
        Self::Conclude,
        Self::ReproveByCompany,
        Self::ReproveByPlatform,
        Self::Reopen,
        Self::CreateExtension,
        Self::ConcludeExtension,
        Self::CancelExtension,
    ];

    /// The next status and the event of this deed in `status`, if it is possible there; `refused_in` is
    /// the status before the latest reproval.
    pub(super) fn leads(
        self,
        status: Status,
        refused_in: Option<Status>,
    ) -> Option<(Status, EventType)> {
        use EventType as E;
        use Status as S;
        let row = match (self, status) {
            (Self::Request, S::InPreAuth) | (Self::Verify, S::InVerification) => {
                (S::ToApprove, E::AnticipationRequested)
            }
            (Self::Decline, S::InPreAuth) => (S::Reproved, E::PreAuthorizationDeclined),
            (Self::Cancel | Self::Withdraw, S::InPreAuth) => {
                (S::Reproved, E::PreAuthorizationRevoked)
            }
            (Self::Expire, S::InPreAuth) => (S::Reproved, E::PreAuthorizationExpired),
            (Self::Approve, S::ToApprove) => (S::InAnalysis, E::AnticipationApproved),
            (Self::Release, S::InAnalysis) => (S::ToPay, E::AnticipationAnalysisApproved),
            (Self::Pay, S::ToPay) => (S::ToBill, E::AnticipationPaid),
            (Self::ReturnPayout, S::ToBill | S::ToReceive) => {
                (S::ToPay, E::AnticipationPayoutReturned)
            }
            (Self::Bill, S::ToBill) => (S::ToReceive, E::AnticipationBilled),
            (Self::Conclude, S::ToReceive) => (S::Concluded, E::AnticipationConcluded),
            (Self::ReproveByCompany, S::InVerification | S::ToApprove)
            | (
                Self::ReproveByPlatform,
                S::InVerification | S::ToApprove | S::InAnalysis | S::ToPay,
            ) => (S::Reproved, E::AnticipationReproved),
            (Self::Reopen, S::Reproved) => {
                let resumed = match refused_in {
                    Some(refused @ (S::InVerification | S::ToApprove)) => refused,
                    _ => S::InAnalysis,
                };
                (resumed, E::AnticipationReopened)
            }
            (Self::CreateExtension, S::ToReceive) => {
                (S::ToReceive, E::AnticipationExtensionCreated)
            }
            (Self::ConcludeExtension, S::ToReceive) => {
                (S::ToReceive, E::AnticipationExtensionConcluded)
            }
            (Self::CancelExtension, S::ToReceive) => {
                (S::ToReceive, E::AnticipationExtensionCanceled)
            }
            _ => return None,
        };
        Some(row)
    }
}
