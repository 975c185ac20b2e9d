//! A span from its beginning to its end.

use std::borrow::Cow;

use opentelemetry::trace::{Link, SpanContext, SpanId, SpanKind, Status};
use opentelemetry::{InstrumentationScope, KeyValue, Value, time};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use super::Traces;

/// A span that is sent when it is dropped, so that one whose request was abandoned is sent, too.
pub(super) struct Span {
    traces: Traces,
    data: Option<SpanData>,
}

impl Span {
    /// Begins now, as a part of `parent` if there is one.
    pub(super) fn begin(
        traces: &Traces,
        context: SpanContext,
        parent: Option<&SpanContext>,
        kind: SpanKind,
        name: impl Into<Cow<'static, str>>,
    ) -> Self {
        let now = time::now();
        let data = SpanData {
            span_context: context,
            parent_span_id: parent.map_or(SpanId::INVALID, SpanContext::span_id),
            parent_span_is_remote: parent.is_some_and(SpanContext::is_remote),
            span_kind: kind,
            name: name.into(),
            start_time: now,
            end_time: now,
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::builder("preauth").build(),
        };
        Self {
            traces: traces.clone(),
            data: Some(data),
        }
    }

    /// Gives it a fact.
    pub(super) fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(data) = &mut self.data {
            data.attributes.push(KeyValue::new(name, value));
        }
    }

    /// Changes what was set at its beginning.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut SpanData)) {
        if let Some(data) = &mut self.data {
            change(data);
        }
    }

    /// It is about the same as a span of another trace.
    pub(super) fn link(&mut self, other: SpanContext) {
        self.change(|data| data.links.links.push(Link::new(other, Vec::new(), 0)));
    }

    /// It went wrong.
    pub(super) fn fail(&mut self, reason: impl Into<Cow<'static, str>>) {
        let reason = reason.into();
        self.set("error.type", reason.to_string());
        self.change(|data| data.status = Status::error(reason));
    }

    pub(super) fn context(&self) -> Option<&SpanContext> {
        self.data.as_ref().map(|data| &data.span_context)
    }

    /// Nobody hears of it.
    pub(super) fn forget(mut self) {
        self.data = None;
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(mut data) = self.data.take() {
            // One that began in the past has its end already.
            if data.end_time == data.start_time {
                data.end_time = time::now();
            }
            self.traces.send(data);
        }
    }
}
