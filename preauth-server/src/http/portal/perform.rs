//! The supplier's commands, as the platform API executes them.

use preauth_core::ErrorCode;
use preauth_core::operation::{Command, Operation};
use preauth_core::port::Viewer;
use preauth_core::service::ServiceError;
use salvo::http::StatusCode;

use crate::http::error::ApiError;
use crate::http::held;
use crate::http::reply::Reply;
use crate::log;

use super::message::Message;
use super::offer;
use super::visit::{Visit, find};

/// The offer's page as it is now, when something that was asked for is not possible.
pub(super) fn refusal(visit: &Visit<'_>) -> Result<Reply, ApiError> {
    offer::page(visit, StatusCode::CONFLICT, Some(Message::NotPossible))
}

/// Executes the supplier's command like the platform API does, and shows the result. `is_done` tells
/// whether an operation is already as the command would make it: a form that was sent twice.
pub(super) async fn perform(
    visit: &Visit<'_>,
    command: &Command,
    is_done: fn(&Operation) -> bool,
) -> Result<Reply, ApiError> {
    let api = visit.api;
    // The form may have taken its time: the offer may have expired meanwhile, or the instance been held.
    let now = api.clock.now();
    held::refuse(&api.hold, true)?;
    let (id, actor) = (visit.operation.id, command.platform_actor());
    let done = api
        .operations
        .command(Viewer::Platform, id, command, actor, now);
    match done.await {
        Ok(done) => {
            log::moved(&done, None);
            Ok(visit.back())
        }
        Err(ServiceError::Rejected(_)) => {
            let operation = find(api, id).await?;
            let operation = operation.ok_or(ApiError::new(ErrorCode::NotFound))?;
            if is_done(&operation) {
                return Ok(visit.back());
            }
            let present = Visit {
                address: None,
                api,
                frame: visit.frame.clone(),
                operation,
                now,
            };
            refusal(&present)
        }
        Err(ServiceError::Unknown(cause)) => Err(ApiError::unavailable(cause)),
        Err(error) => Err(error.into()),
    }
}
