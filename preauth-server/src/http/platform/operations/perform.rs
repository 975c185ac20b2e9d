//! Commands of the platform on operations, and their log.

use preauth_core::operation::{Command, Operation};
use preauth_core::port::Viewer;
use preauth_core::service::{CommandOutcome, ReplyOf};
use preauth_core::value::OperationId;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::platform::calling_operator::CallingOperator;
use crate::http::platform::{PlatformApi, if_version};
use crate::log;

/// Executes `command` on an operation as the actor that may do it, in the hands of the operator who sent
/// the request; only in the version that they have seen, if they say which.
pub(in crate::http::platform) async fn perform(
    api: &PlatformApi,
    req: &Request,
    id: OperationId,
    command: &Command,
) -> Result<CommandOutcome, ApiError> {
    perform_with_reply(api, req, id, command, None).await
}

/// The same, with the reply to store, if there is one.
pub(in crate::http::platform) async fn perform_with_reply(
    api: &PlatformApi,
    req: &Request,
    id: OperationId,
    command: &Command,
    reply: Option<&ReplyOf<'_, Operation>>,
) -> Result<CommandOutcome, ApiError> {
    let (viewer, actor, now) = (Viewer::Platform, command.platform_actor(), api.clock.now());
    let done = CallingOperator::operations(api, req)?
        .if_version(if_version::seen(req)?)
        .command_with_reply(viewer, id, command, actor, reply, now)
        .await?;
    log::moved(&done, Some(&CallingOperator::of(req)?.name));
    Ok(done)
}
