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
pub(super) const NEWEST_ONLY: &str = "Of more than 10,000 that match, the newest 10,000 are listed and counted, and `hasOlder` is true; narrower \
     filters reach older ones.";

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
        has_older: page.is_cut,
    };
    Reply::json(StatusCode::OK, convert::text(&list))
}

/// One page of records.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Listed<S> {
    pub(crate) data: Vec<S>,
    pub(crate) pagination: Pagination,
    /// Whether older entries match, which no page has.
    #[serde(
        rename = "hasOlder",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub(crate) has_older: bool,
}

#[cfg(test)]
mod tests {
    use super::{Page, PageRequest, reply};

    #[test]
    fn a_list_says_whether_older_entries_match() {
        let request = PageRequest { page: 1, limit: 2 };
        for is_cut in [false, true] {
            let page = Page {
                items: vec![1],
                total: 1,
                is_cut,
            };
            let reply = reply(&page, request, |it| *it);
            let text = reply.body_text().unwrap_or_default();
            assert_eq!(text.contains(r#""hasOlder":true"#), is_cut, "{text}");
            assert_eq!(text.contains("hasOlder"), is_cut, "{text}");
        }
    }
}
