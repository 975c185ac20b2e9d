//! The parameters that lists share (contract, "GET /pre-authorizations").

use preauth_core::port::{Filter, PageRequest};
use preauth_core::value::{ExternalReference, OperationId, Status};

use super::fields::{Problems, one_of};
use super::problem::{Defect, Problem};
use super::query::Query;

const DEFAULT_LIMIT: u32 = 20;
const MAX_PAGE: u64 = i64::MAX.unsigned_abs();

/// Reads the parameters of a list of operations, with all their problems.
pub(super) fn operations(query: Option<&str>) -> Result<(Filter, PageRequest), Vec<Problem>> {
    let query = Query::parse(query);
    let mut problems = Problems::default();
    let filter = Filter {
        external_reference: query.one(
            "externalReference",
            // Earlier builds accepted more characters than a create does today.
            ExternalReference::from_stored,
            &mut problems,
        ),
        statuses: query.many("status", one_of(Status::ALL), &mut problems),
    };
    let page = page(&query, &mut problems);
    problems.unless_any(Some((filter, page)))
}

/// The operation that a filter names.
pub(super) fn operation_id(text: &str) -> Result<OperationId, Defect> {
    text.parse::<OperationId>().map_err(|_| Defect::NotNumeric)
}

/// Reads `page` and `limit`.
pub(super) fn page(query: &Query, problems: &mut Problems) -> PageRequest {
    let page = query.whole("page", 1, MAX_PAGE, problems);
    let limit = query.whole("limit", 1, PageRequest::MAX_LIMIT, problems);
    PageRequest {
        page: page.unwrap_or(1),
        limit: limit.unwrap_or(DEFAULT_LIMIT),
    }
}
