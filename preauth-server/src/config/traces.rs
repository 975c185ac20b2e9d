//! The section `traces`: where OpenTelemetry spans go.

use url::Url;

use crate::telemetry::traces::TraceSettings;

use super::reader::Reader;

impl Reader<'_> {
    /// `None` without a collector, and after a problem.
    pub(super) fn trace_settings(&mut self) -> Option<TraceSettings> {
        let percent = self.whole("traces.percent", 100)?;
        if self.text("traces.endpoint").is_empty() {
            return None;
        }
        let form = "a URL like http://127.0.0.1:4318/v1/traces";
        let endpoint = self.parse::<Url>("traces.endpoint", form)?;
        if !matches!(endpoint.scheme(), "http" | "https") || endpoint.host().is_none() {
            self.problem("traces.endpoint must be a URL like http://127.0.0.1:4318/v1/traces");
            return None;
        }
        if !cfg!(feature = "otlp") {
            self.problem(
                "traces.endpoint is set, but this build sends no traces; build it with the feature otlp",
            );
            return None;
        }
        Some(TraceSettings { endpoint, percent })
    }
}
