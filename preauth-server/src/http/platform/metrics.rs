//! Metrics for Prometheus.
//!
//! They need no token, like the probes: the numbers identify nobody, and the listener is private.

use std::sync::Arc;

use salvo::http::header::{CONTENT_TYPE, HeaderValue};
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::http::request_notes::RequestNotes;
use crate::telemetry::metrics;

use super::{METRICS, Vitals};

/// `GET /metrics`.
pub(super) fn route(vitals: &Arc<dyn Vitals>) -> Router {
    let scrape = || Scrape {
        vitals: Arc::clone(vitals),
        route: METRICS.into(),
    };
    Router::with_path(METRICS).get(scrape()).head(scrape())
}

struct Scrape {
    vitals: Arc<dyn Vitals>,
    route: Arc<str>,
}

#[async_trait]
impl Handler for Scrape {
    async fn handle(
        &self,
        _req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        RequestNotes::of(depot).route = Some(Arc::clone(&self.route));
        let text = self.vitals.metrics().await;
        res.status_code(StatusCode::OK);
        let content_type = HeaderValue::from_static(metrics::CONTENT_TYPE);
        res.headers_mut().insert(CONTENT_TYPE, content_type);
        res.body(text);
    }
}
