//! POST /companies/{id}/suspend and /resume; both are idempotent.

use preauth_core::value::{CompanyId, Reason};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::{Company, Suspension};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::{body, convert, path_id};

use super::shape::CompanyShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Suspend;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Resume;

#[async_trait]
impl Endpoint for Suspend {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let reason = reason(&body::json(req).await?)?;
        let id = path_id::record(req, CompanyId::parse)?;
        let since = api.clock.now();
        let suspension = Suspension { since, reason };
        let company = api.directory.suspend_company(id, &suspension).await?;
        tracing::info!(target: "company", company = %company.id, "suspended");
        Ok(shown(&company))
    }
}

#[async_trait]
impl Endpoint for Resume {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, CompanyId::parse)?;
        let company = api.directory.resume_company(id).await?;
        tracing::info!(target: "company", company = %company.id, "resumed");
        Ok(shown(&company))
    }
}

fn shown(company: &Company) -> Reply {
    Reply::json(StatusCode::OK, convert::text(&CompanyShape::from(company)))
}

fn reason(tree: &Json) -> Result<Reason, Vec<Problem>> {
    let mut problems = Problems::default();
    let reason = Fields::body(tree, &mut problems)
        .and_then(|body| body.text("reason", Reason::parse, &mut problems));
    problems.unless_any(reason)
}
