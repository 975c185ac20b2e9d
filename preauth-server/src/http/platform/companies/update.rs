//! PATCH /companies/{id}: corrects the name of a registered company.

use preauth_core::value::CompanyName;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, lookup};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::{body, convert};

use super::shape::CompanyShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Update;

#[async_trait]
impl Endpoint for Update {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let name = parse(&body::json(req).await?)?;
        let mut company = lookup::registered(api, req).await?;
        if let Some(name) = name {
            company = api.directory.rename_company(company.id, &name).await?;
        }
        let body = convert::text(&CompanyShape::from(&company));
        Ok(Reply::json(StatusCode::OK, body))
    }
}

/// The new name, if the request names one.
fn parse(tree: &Json) -> Result<Option<CompanyName>, Vec<Problem>> {
    let mut problems = Problems::default();
    let name = Fields::body(tree, &mut problems)
        .map(|body| body.optional_text("name", CompanyName::parse, &mut problems));
    problems.unless_any(name)
}
