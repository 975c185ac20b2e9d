//! One log line per request, and its request id.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use preauth_core::ErrorCode;
use preauth_core::port::IdSource;
use preauth_core::value::{Cnpj, OperatorName, RequestId};
use preauth_core::wire::header::{IDEMPOTENCY_REPLAYED, RATE_LIMIT_LIMIT, REQUEST_ID};
use salvo::http::header::HeaderValue;
use salvo::http::{Method, Request, Response};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use crate::clock::{Clock, Stopwatch};
use crate::telemetry::RequestTelemetry;
use crate::telemetry::metrics::{EndedRequest, Limit};

use super::client_address::ClientAddress;
use super::error::ApiError;
use super::handler;
use super::platform::{LIVEZ, METRICS, READYZ};
use super::request_notes::RequestNotes;

/// Maximum length of a logged path segment; no word of a route and no id is longer.
const SEGMENT_CHARACTERS_LOGGED: usize = 36;
/// In place of what is not logged.
const HIDDEN: &str = "(hidden)";
/// Maximum length of a logged path; no path of this API is longer.
const PATH_CHARACTERS_LOGGED: usize = 200;

/// The outermost layer of the listeners of both APIs.
pub(super) struct RequestLog {
    /// `integration`, `platform` or `portal`.
    pub listener: &'static str,
    /// Whether who knows a path may do what it leads to.
    pub has_secret_paths: bool,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// The source of request ids.
    pub ids: Arc<dyn IdSource>,
    /// Counts and traces the logged requests.
    pub telemetry: RequestTelemetry,
}

#[async_trait]
impl Handler for RequestLog {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let stopwatch = Stopwatch::start();
        let _in_flight = self.telemetry.metrics.begin(self.listener);
        let span = (self.telemetry.traces.as_ref())
            .filter(|_| !is_probe(req.uri().path()))
            .and_then(|traces| traces.begin_request(req.headers()));
        let id = RequestId::new(self.ids.uuid(self.clock.now()));
        req.extensions_mut().insert(id);
        let id = id.to_string();
        if let Ok(value) = HeaderValue::from_str(&id) {
            res.headers_mut().insert(REQUEST_ID, value);
        }
        let rest = AssertUnwindSafe(ctrl.call_next(req, depot, res)).catch_unwind();
        let rest = match &span {
            Some(span) => span.course(rest).await,
            None => rest.await,
        };
        if rest.is_err() {
            handler::refuse(ApiError::internal("a layer panicked"), depot, res);
        }
        let notes = RequestNotes::of(depot);
        let took = stopwatch.elapsed();
        let duration_ms = took.num_milliseconds();
        let status = res.status_code.map_or(200, |status| status.as_u16());
        // Without the query string: it may hold anything that a caller pasted into it.
        let method = shown_method(req.method());
        let path = if self.has_secret_paths {
            notes.route.as_deref().unwrap_or(HIDDEN).to_owned()
        } else {
            shown_path(req.uri().path())
        };
        let path = path.as_str();
        let key = notes.key.map(|key| key.to_string());
        let operator = notes.operator.as_ref().map(OperatorName::as_str);
        let client = ClientAddress::of_request(req).to_string();
        let listener = self.listener;
        let ended = EndedRequest {
            api: listener,
            route: notes.route.as_deref(),
            method,
            status,
            took,
            code: notes.code,
            limit: limit(notes, res),
            is_replay: res.headers().contains_key(IDEMPOTENCY_REPLAYED),
        };
        self.telemetry.metrics.end(&ended);
        if let Some(span) = span {
            span.end(&ended, &id);
        }
        let code = notes.code.map(ErrorCode::as_str);
        if notes.is_of_overload {
            tracing::debug!(target: "request", listener, method, path, status, duration_ms, id, client, code);
        } else if status >= 500 {
            let error = notes.cause.as_deref();
            tracing::error!(target: "request", listener, method, path, status, duration_ms, id, client, key, operator, code, error);
        } else if is_probe(path) {
            tracing::debug!(target: "request", listener, method, path, status, duration_ms, id, client);
        } else {
            tracing::info!(target: "request", listener, method, path, status, duration_ms, id, client, key, operator, code);
        }
    }
}

impl std::fmt::Debug for RequestLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestLog")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

/// Whether these requests only look after the service.
fn is_probe(path: &str) -> bool {
    [LIVEZ, READYZ, METRICS].contains(&path)
}

/// Which limit refused a request; the answer names only a key's window.
fn limit(notes: &RequestNotes, res: &Response) -> Option<Limit> {
    let is_limited = notes.code == Some(ErrorCode::RateLimited);
    is_limited.then(|| {
        if notes.is_crowded {
            Limit::HeadOffice
        } else if res.headers().contains_key(RATE_LIMIT_LIMIT) {
            Limit::Key
        } else {
            Limit::Address
        }
    })
}

/// The method as logged; a caller may send any word.
fn shown_method(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::OPTIONS
        | Method::TRACE
        | Method::CONNECT => method.as_str(),
        _ => "OTHER",
    }
}

/// The path as logged. Paths of this API are short and consist of route words and ids; any other
/// text may be a pasted key, address or tax id, and is hidden.
fn shown_path(path: &str) -> String {
    let shown = |segment| {
        if is_harmless(segment) {
            segment
        } else {
            HIDDEN
        }
    };
    let path: Vec<_> = path.split('/').map(shown).collect();
    path.join("/")
        .chars()
        .take(PATH_CHARACTERS_LOGGED)
        .collect()
}

fn is_harmless(segment: &str) -> bool {
    let is_plain = segment
        .bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    is_plain && segment.len() <= SEGMENT_CHARACTERS_LOGGED && Cnpj::parse(segment).is_err()
}

#[cfg(test)]
mod tests {
    use super::{Method, shown_method, shown_path};

    #[test]
    fn no_secret_is_logged_wherever_it_was_pasted() {
        for secret in ["service_sk_0123", "whsec_0123", "preauth_op_0123"] {
            let method = Method::from_bytes(secret.as_bytes()).unwrap();
            assert_eq!(shown_method(&method), "OTHER");
        }
        for pasted in [
            "service_sk_0123",
            "whsec_0123",
            "11444777000161",
            "12abc34501de35",
            "12.ABC.345%2F01DE-35",
            "a@b.co",
            &"a".repeat(37),
        ] {
            let path = format!("/api/integration/v1/{pasted}/cancel");
            assert_eq!(shown_path(&path), "/api/integration/v1/(hidden)/cancel");
        }
        for path in [
            "/api/integration/v1/pre-authorizations/17",
            "/api/platform/v1/companies/01a1fe3a-25a3-7ffb-8504-107e7be706e3/users",
            "/",
        ] {
            assert_eq!(shown_path(path), path);
        }
        assert_eq!(shown_path(&"/x".repeat(10_000)).len(), 200);
    }
}
