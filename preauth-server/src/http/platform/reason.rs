//! The reason that some actions take.

use preauth_core::value::Reason;

use crate::http::fields::{Fields, Problems};
use crate::http::openapi::shape::request;

request! {
    /// The details, if any.
    #[derive(Debug)]
    pub(crate) struct NewReason = "Reason" {
        /// Why; a default text otherwise.
        reason: Option<Reason>,
    }
}

impl NewReason {
    pub(super) fn parse(body: Fields<'_>, problems: &mut Problems) -> Self {
        let reason = body.optional_text("reason", Reason::parse, problems);
        Self { reason }
    }
}
