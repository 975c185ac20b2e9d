//! What every endpoint gets for nothing: an answer in the error shape whatever happens, and a line
//! in the log for what callers must not see.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use salvo::Depot;
use salvo::http::Response;

use crate::log;

use super::error::ApiError;
use super::reply::Reply;
use super::request_log::RequestNotes;

/// Runs an endpoint; a panic becomes an internal error, and the process lives on.
pub(super) async fn run(
    answer: impl Future<Output = Result<Reply, ApiError>> + Send,
) -> Result<Reply, ApiError> {
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(answered) => answered,
        Err(_) => Err(ApiError::internal("the handler panicked")),
    }
}

/// Turns an outcome into the answer, noting what the log will tell.
pub(super) fn settle(outcome: Result<Reply, ApiError>, depot: &mut Depot) -> Reply {
    outcome.unwrap_or_else(|error| {
        let notes = RequestNotes::of(depot);
        notes.code = Some(error.code);
        notes.cause = error.cause().map(|cause| log::chain(cause));
        error.into_reply()
    })
}

/// Writes an answer that no endpoint gave: unknown paths, wrong methods.
pub(super) fn refuse(error: ApiError, depot: &mut Depot, res: &mut Response) {
    settle(Err(error), depot).write(res);
}
