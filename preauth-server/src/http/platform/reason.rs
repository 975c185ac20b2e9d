//! The reason that some actions take.

use preauth_core::value::Reason;

use crate::http::openapi::shape::request;

request! {
    /// The details, if any.
    #[derive(Debug)]
    pub(crate) struct NewReason = "Reason" {
        /// Why; a default text otherwise.
        reason: Option<Reason>,
    }
}
