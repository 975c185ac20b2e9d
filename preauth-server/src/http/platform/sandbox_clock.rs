//! POST /sandbox/clock: moves the clock forward. Routed in a sandbox only.

use std::sync::Arc;

use preauth_core::ErrorCode;
use preauth_core::value::Timestamp;
use salvo::async_trait;
use salvo::http::Request;

use crate::clock::{TimeMachine, TravelError};
use crate::http::error::ApiError;
use crate::http::json::Json;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{answer, request_by_hand};
use crate::http::problem::{Defect, Problem};
use crate::http::reply::Reply;
use crate::http::requested;

use super::PlatformApi;
use super::endpoint::{Endpoint, ok};
use super::sections::SANDBOX;

const FIELD: &str = "advanceSeconds";

/// Holds the time machine: without one the endpoint cannot be built.
pub(super) struct Advance(pub(super) Arc<TimeMachine>);

answer! {
    /// The clock.
    #[derive(Debug)]
    pub(crate) struct ClockShape = "Clock" {
        /// The time in this sandbox.
        now: Timestamp,
    }
}

request_by_hand! {
    /// How long.
    #[derive(Debug)]
    pub(crate) struct NewAdvance = "Advance" {
        /// How long, in seconds; 366 days at most.
        advance_seconds: u64 = 259_200 => |it| it.at_least(0).at_most(31_622_400),
    }
}

/// Without a time machine: the route is described everywhere, and exists in a sandbox only.
pub(super) fn document(operation: Described) -> Described {
    operation
        .titled(SANDBOX, "advanceClock", "Let time pass at once")
        .note("A sandbox only: everywhere else there is no such path.")
        .body("How long.", Schema::of::<NewAdvance>())
        .answers(200, "The time now.", Schema::of::<ClockShape>())
        .refuses(&[ErrorCode::NotFound])
}

#[async_trait]
impl Endpoint for Advance {
    fn document(&self, operation: Described) -> Described {
        document(operation)
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let by_seconds = parse(&api.json(req).await?, self.0.reach_seconds())?;
        let machine = Arc::clone(&self.0);
        let advanced = tokio::task::spawn_blocking(move || machine.advance(by_seconds)).await;
        let now = advanced.map_err(ApiError::internal)??;
        Ok(ok(&ClockShape { now }))
    }
}

fn parse(tree: &Json, reach_seconds: u64) -> Result<u64, Vec<Problem>> {
    requested::body(tree, |body, problems| {
        body.whole(FIELD, 0, reach_seconds, problems)
    })
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
