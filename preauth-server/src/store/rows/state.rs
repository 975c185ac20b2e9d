//! The columns that a state fills besides the status: written here, read in `operation`.

use preauth_core::operation::{Closing, State};
use preauth_core::value::{DueDate, Reason};

/// They are NULL in every other state.
pub(in crate::store) struct StateColumns<'a> {
    closing: Option<&'a Closing>,
    boleto_due_date: Option<DueDate>,
}

impl<'a> StateColumns<'a> {
    pub(in crate::store) fn of(state: &'a State) -> Self {
        let (closing, boleto_due_date) = match state {
            State::Reproved(closing) => (Some(closing), None),
            State::ToReceive {
                boleto_due_date, ..
            } => (None, Some(*boleto_due_date)),
            State::InPreAuth
            | State::InVerification
            | State::ToApprove
            | State::InAnalysis
            | State::ToPay
            | State::ToBill
            | State::Concluded => (None, None),
        };
        Self {
            closing,
            boleto_due_date,
        }
    }

    pub(in crate::store) fn closing_action(&self) -> Option<&'static str> {
        self.closing.map(|closing| closing.action.as_str())
    }

    pub(in crate::store) fn closing_reason(&self) -> Option<&'a str> {
        let given = self.closing?.given_reason.as_ref();
        given.map(Reason::as_str)
    }

    pub(in crate::store) fn boleto_due_date(&self) -> Option<String> {
        self.boleto_due_date.map(|date| date.to_string())
    }
}
