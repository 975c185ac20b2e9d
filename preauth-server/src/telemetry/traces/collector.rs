//! The way to the collector: spans are sent in batches by a thread of their own.
//!
//! A collector that is slow or away costs spans, and nothing else.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanContext, TraceId};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchConfig, BatchSpanProcessor, IdGenerator as _, RandomIdGenerator, SpanData,
    SpanProcessor as _,
};
use thiserror::Error;
use tokio::runtime::Handle;

use super::TraceSettings;
use super::context::{self, Sampled};

/// Maximum time for a batch, and for all that is left at the end.
const PATIENCE: Duration = Duration::from_secs(5);
const PATIENCE_AT_END: Duration = Duration::from_secs(2);

/// Sends spans; clones share the queue.
#[derive(Clone, Debug)]
pub struct Traces {
    processor: Arc<BatchSpanProcessor>,
    sampled: Sampled,
}

/// Why no spans can be sent.
#[derive(Debug, Error)]
pub enum TracesError {
    /// The client cannot be made.
    #[error("cannot send traces; check that the platform's root certificates are installed")]
    Client(#[from] reqwest::Error),
    /// The exporter cannot be made.
    #[error("cannot send traces; check traces.endpoint and the variables OTEL_EXPORTER_OTLP_…")]
    Exporter(#[from] ExporterBuildError),
}

impl Traces {
    /// Starts the way to the collector on the current runtime, if there is one.
    pub fn start(settings: Option<&TraceSettings>) -> Result<Option<Self>, TracesError> {
        let Some(settings) = settings else {
            return Ok(None);
        };
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(OnRuntime {
                runtime: Handle::current(),
                client,
                is_failing: AtomicBool::new(false),
            })
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(settings.endpoint.as_str())
            .with_timeout(PATIENCE)
            .build()?;
        let mut processor = BatchSpanProcessor::new(exporter, BatchConfig::default());
        processor.set_resource(
            &Resource::builder()
                .with_service_name("preauth")
                .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
                .build(),
        );
        tracing::info!(endpoint = %settings.endpoint, percent = settings.percent, "traces are sent");
        Ok(Some(Self {
            processor: Arc::new(processor),
            sampled: Sampled::percent(settings.percent),
        }))
    }

    /// Whether spans of this trace are sent.
    pub(super) fn has(&self, trace: TraceId) -> bool {
        self.sampled.has(trace)
    }

    /// The context of a new span: within `parent`, or the first of its trace.
    ///
    /// `None` for a trace that is not sent, because its caller does not or by the share of traces.
    pub(super) fn next(&self, parent: Option<&SpanContext>) -> Option<SpanContext> {
        let ids = RandomIdGenerator::default();
        let trace = parent.map_or_else(|| ids.new_trace_id(), SpanContext::trace_id);
        let is_wanted = parent.is_none_or(SpanContext::is_sampled) && self.has(trace);
        is_wanted.then(|| context::local(trace, ids.new_span_id()))
    }

    pub(super) fn send(&self, span: SpanData) {
        self.processor.on_end(span);
    }

    /// Sends what was not sent yet.
    pub async fn stop(self) {
        let ending = move || self.processor.shutdown_with_timeout(PATIENCE_AT_END);
        if let Ok(Err(error)) = tokio::task::spawn_blocking(ending).await {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// The client of the exporter's thread, which is not one of the runtime's.
struct OnRuntime {
    runtime: Handle,
    client: reqwest::Client,
    is_failing: AtomicBool,
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sending = self
            .runtime
            .spawn(async move { client.send_bytes(request).await });
        let answer = sending.await.map_err(HttpError::from).flatten();
        let problem = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("it answered {}", answer.status())),
            Err(error) => Some(error.to_string()),
        };
        match problem {
            None if self.is_failing.swap(false, Ordering::Relaxed) => {
                tracing::info!("the collector takes traces again");
            }
            Some(problem) if !self.is_failing.swap(true, Ordering::Relaxed) => {
                tracing::warn!(
                    problem,
                    "the collector takes no traces, so that they are lost; check traces.endpoint"
                );
            }
            _ => {}
        }
        answer
    }
}

impl fmt::Debug for OnRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnRuntime").finish_non_exhaustive()
    }
}
