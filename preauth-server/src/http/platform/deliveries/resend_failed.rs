//! POST /companies/{id}/deliveries/resend: every delivery that failed since a given time is due
//! again now, each with a fresh schedule. For an endpoint that is back after a long outage.

use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use serde::Serialize;

use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, lookup};
use crate::http::problem::{Defect, Problem};
use crate::http::reply::Reply;
use crate::http::{body, convert};

/// Maximum number of deliveries per write, so that other writes do not wait long.
const BATCH: u32 = 1_000;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct ResendFailed;

#[async_trait]
impl Endpoint for ResendFailed {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let since = parse(&body::json(req).await?)?;
        let company = lookup::head_office(api, req).await?;
        let count = resend(api, company, since).await?;
        let body = convert::text(&ResentShape { count });
        Ok(Reply::json(StatusCode::OK, body))
    }
}

#[derive(Debug, Serialize)]
struct ResentShape {
    count: u64,
}

/// Batch after batch, until none is left. A delivery that fails again in the meantime failed after
/// `now` and is not included.
async fn resend(
    api: &PlatformApi,
    company: CompanyId,
    since: Timestamp,
) -> Result<u64, Unavailable> {
    let now = api.clock.now();
    let mut count: u64 = 0;
    loop {
        let batch = api.directory.resend_failed(company, since, now, BATCH);
        let resent = batch.await?;
        count = count.saturating_add(resent);
        if resent < u64::from(BATCH) {
            return Ok(count);
        }
    }
}

fn parse(tree: &Json) -> Result<Timestamp, Vec<Problem>> {
    let mut problems = Problems::default();
    let since = Fields::body(tree, &mut problems).and_then(|body| {
        let parse = |text: &str| Timestamp::parse(text).map_err(|_| Defect::NotATimestamp);
        body.text("since", parse, &mut problems)
    });
    problems.unless_any(since)
}

#[cfg(test)]
mod tests {
    use super::{Defect, Json, Problem, parse};

    #[test]
    fn a_moment_is_written_in_utc() {
        let since = |text: &str| {
            let body = format!(r#"{{"since": {text}}}"#);
            parse(&Json::parse(body.as_bytes()).unwrap())
        };
        assert!(since("\"2026-11-21T12:00:00Z\"").is_ok());
        let refused = |defect| Err(vec![Problem::new("since", defect)]);
        assert_eq!(since("null"), refused(Defect::Required));
        for text in ["2026-11-21", "2026-11-21T12:00:00-03:00", ""] {
            let found = since(&format!("\"{text}\""));
            assert_eq!(found, refused(Defect::NotATimestamp), "{text}");
        }
    }
}
