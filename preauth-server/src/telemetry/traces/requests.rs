//! The spans of requests, which continue their callers' traces.

use hyper::HeaderMap;
use opentelemetry::trace::{SpanContext, SpanKind};

use crate::telemetry::metrics::EndedRequest;

use super::Traces;
use super::context;
use super::span::Span;

/// The span of a request in progress.
pub(crate) struct TracedRequest {
    span: Span,
    context: SpanContext,
}

impl Traces {
    /// A request begins; `None` if its trace is not sent.
    pub(crate) fn begin_request(&self, headers: &HeaderMap) -> Option<TracedRequest> {
        let caller = context::of_caller(headers);
        let context = self.next(caller.as_ref())?;
        let kind = SpanKind::Server;
        let span = Span::begin(self, context.clone(), caller.as_ref(), kind, "request");
        Some(TracedRequest { span, context })
    }
}

impl TracedRequest {
    /// Whatever is committed by `work` is a part of this request.
    pub(crate) async fn course<T>(&self, work: impl Future<Output = T>) -> T {
        context::in_request(self.context.clone(), work).await
    }

    /// The request with this id is answered.
    pub(crate) fn end(mut self, ended: &EndedRequest<'_>, id: &str) {
        // These names are of this service, never what a caller sent.
        let (method, route) = (ended.method, ended.route.unwrap_or_default());
        let name = format!("{method} {route}").trim_end().to_owned();
        self.span.change(|data| data.name = name.into());
        self.span.set("http.request.method", method.to_owned());
        self.span.set("http.route", route.to_owned());
        let status = i64::from(ended.status);
        self.span.set("http.response.status_code", status);
        self.span.set("preauth.listener", ended.api);
        self.span.set("preauth.request.id", id.to_owned());
        if let Some(code) = ended.code {
            self.span.set("preauth.error.code", code.as_str());
        }
        if status >= 500 {
            self.span.fail(status.to_string());
        }
    }
}
