//! Pages of lists, in the form of the integration API's list.

use preauth_core::port::PageRequest;
use preauth_core::wire::Pagination;
use salvo::http::{Request, StatusCode};
use serde::Serialize;

use crate::directory::Page;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::query::Query;
use crate::http::reply::Reply;

const DEFAULT_LIMIT: u32 = 20;
const GREATEST_LIMIT: u32 = 100;
const GREATEST_PAGE: u64 = i64::MAX.unsigned_abs();

/// Reads `page` and `limit` of a list that has no other parameters.
pub(super) fn page(req: &Request) -> Result<PageRequest, ApiError> {
    let mut problems = Problems::default();
    let page = page_of(&Query::parse(req.uri().query()), &mut problems);
    Ok(problems.unless_any(Some(page))?)
}

/// Reads `page` and `limit` beside other parameters.
pub(super) fn page_of(query: &Query, problems: &mut Problems) -> PageRequest {
    PageRequest {
        page: query.whole("page", 1, GREATEST_PAGE, problems).unwrap_or(1),
        limit: query
            .whole("limit", 1, GREATEST_LIMIT, problems)
            .unwrap_or(DEFAULT_LIMIT),
    }
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

#[derive(Debug, Serialize)]
struct Listed<S> {
    data: Vec<S>,
    pagination: Pagination,
}
