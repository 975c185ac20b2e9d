//! The data besides the operation on which the decision on a command depends.

use crate::access::OperatorIdentity;
use crate::value::{DueDate, EventType, OperationId, Origin, Status};

use super::State;

/// Everything besides the operation itself that the decision on a command depends on, as of one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandContext {
    /// Another operation in progress that holds the same invoice; used only by reopening.
    pub holder: Option<OperationId>,
    /// The operation's latest event that is neither a reproval nor a reopening, used only by reopening.
    pub reached: Option<EventType>,
    /// The latest due date of the concluded extensions; used only when a boleto is issued.
    pub extended_to: Option<DueDate>,
    /// The operator who released the operation for payment, as far as it is recorded; used only by paying.
    pub released_by: Option<OperatorIdentity>,
    /// The operator who may not pay what they released themselves: the one who gives the command, if
    /// [`Policy::four_eyes`](crate::Policy::four_eyes) is on.
    pub under_four_eyes: Option<OperatorIdentity>,
}

/// The point at which a reopened operation continues: that of its refusal, unless another party has to
/// repeat an earlier decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// The invoice of a direct advance must be verified.
    Verification,
    /// The company must approve.
    Approval,
    /// The platform must analyse; the company has already approved.
    Analysis,
}

impl Resumed {
    /// The point at which an operation continues whose latest progress is the event `reached`.
    ///
    /// Without such an event it continues at the first step of its origin.
    #[must_use]
    pub fn after(reached: Option<EventType>, origin: Origin) -> Self {
        match (reached, origin) {
            (
                Some(
                    EventType::AnticipationApproved
                    | EventType::AnticipationAnalysisApproved
                    | EventType::AnticipationPayoutReturned,
                ),
                _,
            ) => Self::Analysis,
            (Some(EventType::AnticipationRequested), _) | (_, Origin::PreAuth) => Self::Approval,
            (_, Origin::Direct) => Self::Verification,
        }
    }

    /// The status of the reopened operation.
    #[must_use]
    pub fn status(self) -> Status {
        self.state().status()
    }

    /// The state of the reopened operation.
    #[must_use]
    pub const fn state(self) -> State {
        match self {
            Self::Verification => State::InVerification,
            Self::Approval => State::ToApprove,
            Self::Analysis => State::InAnalysis,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Resumed;
    use crate::value::{EventType, Origin};

    #[test]
    fn an_operation_resumes_where_it_was_refused() {
        let cases = [
            (
                EventType::AnticipationCreated,
                Origin::Direct,
                Resumed::Verification,
            ),
            (
                EventType::AnticipationRequested,
                Origin::Direct,
                Resumed::Approval,
            ),
            (
                EventType::AnticipationRequested,
                Origin::PreAuth,
                Resumed::Approval,
            ),
            (
                EventType::AnticipationApproved,
                Origin::PreAuth,
                Resumed::Analysis,
            ),
            (
                EventType::AnticipationAnalysisApproved,
                Origin::Direct,
                Resumed::Analysis,
            ),
            (
                EventType::AnticipationPayoutReturned,
                Origin::PreAuth,
                Resumed::Analysis,
            ),
        ];
        for (reached, origin, resumed) in cases {
            assert_eq!(Resumed::after(Some(reached), origin), resumed, "{reached}");
        }
    }

    #[test]
    fn an_operation_without_a_known_past_resumes_at_its_beginning() {
        for reached in [None, Some(EventType::PreAuthorizationCreated)] {
            assert_eq!(Resumed::after(reached, Origin::PreAuth), Resumed::Approval);
            assert_eq!(
                Resumed::after(reached, Origin::Direct),
                Resumed::Verification
            );
        }
    }
}
