//! Pages of lists, in the form of the integration API's list.

use preauth_core::port::PageRequest;
use preauth_core::wire::Pagination;
use salvo::http::{Request, StatusCode};
use serde::{Deserialize, Serialize};

use crate::directory::Page;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::list_query;
use crate::http::query::Query;
use crate::http::reply::Reply;

/// What the description says of lists over all companies.
pub(super) const NEWEST_ONLY: &str = "Of more than 10,000 that match, the newest 10,000 are listed and counted; narrower filters reach \
     older ones.";

/// Reads `page` and `limit` of a list that has no other parameters.
pub(super) fn page(req: &Request) -> Result<PageRequest, ApiError> {
    let mut problems = Problems::default();
    let page = list_query::page(&Query::parse(req.uri().query()), &mut problems);
    Ok(problems.unless_any(Some(page))?)
}

/// The answer with one page.
pub(super) fn reply<T, S: Serialize>(
    page: &Page<T>,
    request: PageRequest,
    shape: impl Fn(&T) -> S,
) -> Reply {
    let list = Listed {
        data: page.items.iter().map(shape).collect(),
        pagination: Pagination::new(request.page, request.limit, page.total),
    };
    Reply::json(StatusCode::OK, convert::text(&list))
}

/// One page of records.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Listed<S> {
    pub(crate) data: Vec<S>,
    pub(crate) pagination: Pagination,
}
