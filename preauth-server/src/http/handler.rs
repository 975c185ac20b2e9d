//! Runs every endpoint: each failure gets the error shape, and its cause goes to the log.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use salvo::Depot;
use salvo::http::Response;

use crate::log;

use super::error::ApiError;
use super::reply::Reply;
use super::request_notes::RequestNotes;

/// Runs an endpoint; a panic becomes an internal error and does not end the process.
pub(super) async fn run(
    answer: impl Future<Output = Result<Reply, ApiError>> + Send,
) -> Result<Reply, ApiError> {
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(answered) => answered,
        Err(_) => Err(ApiError::internal("the handler panicked")),
    }
}

/// Converts an outcome into the answer and records the notes for the log.
pub(super) fn settle(outcome: Result<Reply, ApiError>, depot: &mut Depot) -> Reply {
    outcome.unwrap_or_else(|error| {
        let notes = RequestNotes::of(depot);
        notes.code = Some(error.code);
        notes.cause = error.cause().map(|cause| log::chain(cause));
        error.into_reply()
    })
}

/// Writes a refusal for requests without an endpoint: unknown paths, wrong methods.
pub(super) fn refuse(error: ApiError, depot: &mut Depot, res: &mut Response) {
    settle(Err(error), depot).write(res);
}
