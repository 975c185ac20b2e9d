//! The spans of commits, of the events that they record, and of attempts to deliver these.

use opentelemetry::time;
use opentelemetry::trace::SpanKind;
use preauth_core::port::{Attempt, Commit, Leased};

use super::Traces;
use super::context;
use super::span::Span;

/// The spans of a commit in progress.
pub(crate) struct TracedCommit {
    /// Within the request that caused it.
    commit: Option<Span>,
    /// The root of the event's trace.
    event: Option<Span>,
}

impl Traces {
    /// A commit begins.
    pub(crate) fn begin_commit(&self, commit: &Commit) -> TracedCommit {
        let (id, event_type) = (commit.event.id, commit.event.event_type.as_str());
        let request = context::of_request();
        let root = context::of_event(id);
        let within = request
            .as_ref()
            .and_then(|request| self.next(Some(request)));
        let mut commit = within.map(|within| {
            Span::begin(self, within, request.as_ref(), SpanKind::Internal, "commit")
        });
        let mut event = self
            .has(root.trace_id())
            .then(|| Span::begin(self, root.clone(), None, SpanKind::Producer, event_type));
        for span in commit.iter_mut().chain(&mut event) {
            span.set("preauth.event.id", id.to_string());
            span.set("preauth.event.type", event_type);
        }
        if let (Some(commit), Some(event)) = (&mut commit, &mut event) {
            commit.link(root);
            if let Some(context) = commit.context() {
                event.link(context.clone());
            }
        }
        TracedCommit { commit, event }
    }

    /// An attempt ended just now.
    pub(crate) fn attempted(&self, leased: &Leased, attempt: &Attempt) {
        let root = context::of_event(leased.event);
        let Some(context) = self.next(Some(&root)) else {
            return;
        };
        let mut span = Span::begin(self, context, Some(&root), SpanKind::Client, "attempt");
        let took = attempt.duration.to_std().unwrap_or_default();
        span.change(|data| {
            data.end_time = time::now();
            data.start_time = data.end_time.checked_sub(took).unwrap_or(data.end_time);
        });
        let number = leased.attempts_made.saturating_add(1);
        span.set("preauth.event.id", leased.event.to_string());
        span.set("preauth.event.type", leased.event_type.clone());
        span.set("preauth.delivery.id", leased.delivery.to_string());
        span.set("preauth.endpoint.id", leased.endpoint.to_string());
        span.set("preauth.attempt", i64::from(number));
        span.set("preauth.trigger", leased.trigger.as_str());
        span.set("http.request.method", "POST");
        if let Some(status) = attempt.http_status {
            span.set("http.response.status_code", i64::from(status));
        }
        match (attempt.error, attempt.http_status) {
            (None, _) => {}
            (Some(_), Some(status)) => span.fail(status.to_string()),
            (Some(error), None) => span.fail(error.code()),
        }
    }
}

impl TracedCommit {
    /// It ended with an outcome; an event exists only if it is done.
    pub(crate) fn end(self, is_done: bool, outcome: &'static str) {
        if let Some(mut commit) = self.commit {
            commit.set("preauth.commit.outcome", outcome);
            if !is_done {
                commit.fail(outcome);
            }
        }
        if let Some(event) = self.event
            && !is_done
        {
            event.forget();
        }
    }
}
