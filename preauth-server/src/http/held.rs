//! Refusals while the instance is on hold.

use preauth_core::ErrorCode;
use salvo::http::{Method, Request};

use crate::hold::{Hold, HoldReason};

use super::error::ApiError;
use super::{english, messages};

/// Seconds after which a request may be retried: another instance may answer it.
const RETRY_SECONDS: u32 = 30;

/// Refuses a request that this instance must not answer while it is on hold.
pub(super) fn refuse(hold: &Hold, is_write: bool) -> Result<(), ApiError> {
    match hold.refuses(is_write) {
        None => Ok(()),
        Some(reason) => Err(ApiError::new(ErrorCode::ServiceUnavailable)
            .retry_after(RETRY_SECONDS)
            .in_both(messages::held(reason), english::held(reason))),
    }
}

/// Why the instance that answered with this message is on hold, if it is. Reasons with one message are taken for
/// the first of them.
pub(crate) fn reason_of(message: &str) -> Option<HoldReason> {
    let mut reasons = HoldReason::ALL.iter().copied();
    reasons.find(|reason| messages::held(*reason) == message)
}

/// Whether a request does more than read.
pub(super) fn is_write(req: &Request) -> bool {
    !matches!(*req.method(), Method::GET | Method::HEAD)
}
