//! In place of traces in a build without them.

use std::convert::Infallible;

use hyper::HeaderMap;
use preauth_core::port::{Attempt, Commit, Leased};

use crate::telemetry::metrics::EndedRequest;

use super::TraceSettings;

/// Cannot be made: settings that ask for traces are refused.
#[derive(Clone, Debug)]
pub enum Traces {}

/// Cannot be made, either.
pub(crate) enum TracedRequest {}

/// Nor can this.
pub(crate) enum TracedCommit {}

/// Cannot happen.
pub type TracesError = Infallible;

impl Traces {
    /// None, whatever is asked for.
    #[expect(clippy::unnecessary_wraps, reason = "the build with traces may fail")]
    pub const fn start(_settings: Option<&TraceSettings>) -> Result<Option<Self>, TracesError> {
        Ok(None)
    }

    pub(crate) const fn begin_request(&self, _headers: &HeaderMap) -> Option<TracedRequest> {
        match *self {}
    }

    pub(crate) const fn begin_commit(&self, _commit: &Commit) -> TracedCommit {
        match *self {}
    }

    pub(crate) const fn attempted(&self, _leased: &Leased, _attempt: &Attempt) {
        match *self {}
    }

    /// Sends what was not sent yet.
    #[expect(clippy::unused_async, reason = "the build with traces waits")]
    pub async fn stop(self) {
        match self {}
    }
}

impl TracedRequest {
    #[expect(clippy::unused_async, reason = "the build with traces waits")]
    pub(crate) async fn course<T>(&self, _work: impl Future<Output = T>) -> T {
        match *self {}
    }

    pub(crate) const fn end(self, _ended: &EndedRequest<'_>, _id: &str) {
        match self {}
    }
}

impl TracedCommit {
    pub(crate) const fn end(self, _is_done: bool, _outcome: &'static str) {
        match self {}
    }
}
