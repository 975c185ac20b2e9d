//! GET /operations: everybody's, most recent first.

use preauth_core::port::{Filter, PageRequest, Viewer};
use preauth_core::value::{ExternalReference, Status};
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::Page;
use crate::http::error::ApiError;
use crate::http::fields::{Problems, one_of};
use crate::http::platform::resource::Endpoint;
use crate::http::platform::{PlatformApi, paging};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::shape::OperationShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct List;

#[async_trait]
impl Endpoint for List {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = parse(&Query::parse(req.uri().query()))?;
        let found = api.queries.list(Viewer::Platform, &filter, page).await?;
        let found = Page {
            items: found.operations,
            total: found.total,
        };
        Ok(paging::reply(&found, page, |each| {
            OperationShape::from(each)
        }))
    }
}

/// The parameters of the integration API's list.
fn parse(query: &Query) -> Result<(Filter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let filter = Filter {
        external_reference: query.one("externalReference", ExternalReference::parse, &mut problems),
        statuses: query.many("status", one_of(Status::ALL), &mut problems),
    };
    let page = paging::page_of(query, &mut problems);
    problems.unless_any(Some((filter, page)))
}
