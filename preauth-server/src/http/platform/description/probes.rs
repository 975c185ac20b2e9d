//! The paths for orchestrators and monitoring, without a token.

use crate::http::openapi::described::Described;
use crate::http::openapi::document::Content;
use crate::http::openapi::schema::Schema;
use crate::http::platform::sections::PROBES;
use crate::http::platform::{LIVEZ, METRICS, READYZ};
use crate::telemetry::metrics;

use super::schemas;

pub(super) fn all() -> [Described; 3] {
    [
        probe(LIVEZ, "livez", "Does the process live?"),
        probe(READYZ, "readyz", "Can requests be served?"),
        scrape(),
    ]
}

fn probe(path: &'static str, id: &'static str, summary: &'static str) -> Described {
    open(path, id, summary)
        .answers(200, "Yes.", schemas::named("Well"))
        .answers(503, "No.", schemas::named("Unwell"))
}

fn scrape() -> Described {
    let text = Schema::text("Prometheus' text format.", "# EOF");
    let content = Content::of(metrics::CONTENT_TYPE, text);
    open(METRICS, "metrics", "What was counted and measured").answers_content(
        200,
        "The numbers.",
        content,
    )
}

fn open(path: &'static str, id: &'static str, summary: &'static str) -> Described {
    Described::new("get", path, PROBES.name, id, summary).security(Vec::new())
}
