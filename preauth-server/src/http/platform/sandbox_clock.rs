//! POST /sandbox/clock: moves the clock forward. Routed in a sandbox only.

use std::sync::Arc;

use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use serde::Serialize;

use crate::clock::{TimeMachine, TravelError};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::problem::{Defect, Problem};
use crate::http::reply::Reply;
use crate::http::{body, convert};

const FIELD: &str = "advanceSeconds";

/// Holds the time machine: without one the endpoint cannot be built.
pub(super) struct Advance(pub(super) Arc<TimeMachine>);

#[derive(Debug, Serialize)]
struct ClockShape {
    now: String,
}

#[async_trait]
impl Endpoint for Advance {
    async fn answer(&self, _api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let by_seconds = parse(&body::json(req).await?, self.0.reach_seconds())?;
        let machine = Arc::clone(&self.0);
        let advanced = tokio::task::spawn_blocking(move || machine.advance(by_seconds)).await;
        let now = advanced.map_err(ApiError::internal)??;
        let shape = ClockShape {
            now: now.to_string(),
        };
        Ok(Reply::json(StatusCode::OK, convert::text(&shape)))
    }
}

fn parse(tree: &Json, reach_seconds: u64) -> Result<u64, Vec<Problem>> {
    let mut problems = Problems::default();
    let seconds = Fields::body(tree, &mut problems).and_then(|body| {
        body.required(FIELD, &mut problems)?;
        body.optional_whole(FIELD, 0, reach_seconds, &mut problems)
    });
    problems.unless_any(seconds)
}

impl From<TravelError> for ApiError {
    fn from(error: TravelError) -> Self {
        match error {
            TravelError::TooFar { max_seconds: max } => {
                Self::problem(FIELD, Defect::WholeNumber { min: 0, max })
            }
            TravelError::NotKept(cause) => Self::unavailable(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Defect, Json, Problem, parse};

    #[test]
    fn only_a_whole_number_of_seconds_within_reach_is_read() {
        let seconds = |body: &str| parse(&Json::parse(body.as_bytes()).unwrap(), 100);
        assert_eq!(seconds(r#"{"advanceSeconds": 0}"#), Ok(0));
        assert_eq!(seconds(r#"{"advanceSeconds": 100}"#), Ok(100));
        let refused = |defect| Err(vec![Problem::new("advanceSeconds", defect)]);
        for missing in ["{}", r#"{"advanceSeconds": null}"#] {
            assert_eq!(seconds(missing), refused(Defect::Required));
        }
        for text in [
            "-1",
            "101",
            "1.5",
            "1e1",
            "\"1\"",
            "99999999999999999999999",
        ] {
            let body = format!(r#"{{"advanceSeconds": {text}}}"#);
            let bounds = Defect::WholeNumber { min: 0, max: 100 };
            assert_eq!(seconds(&body), refused(bounds), "{text}");
        }
    }
}
