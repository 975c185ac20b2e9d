//! GET /pre-authorizations: the operations in which the caller's company is the payer.

use preauth_core::port::{Filter, PageRequest};
use preauth_core::value::{ExternalReference, Scope, Status};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::caller::Caller;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::problem::{Defect, Problem};
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::{Endpoint, IntegrationApi};

const DEFAULT_LIMIT: u32 = 20;
const GREATEST_LIMIT: u32 = 100;
const GREATEST_PAGE: u64 = i64::MAX.unsigned_abs();
const STATUSES: &[&str] = &[
    "IN_PRE_AUTH",
    "IN_VERIFICATION",
    "TO_APPROVE",
    "IN_ANALYSIS",
    "TO_PAY",
    "TO_BILL",
    "TO_RECEIVE",
    "CONCLUDED",
    "REPROVED",
];

pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    const SCOPE: Scope = Scope::PreauthRead;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        let (filter, page) = parse(&Query::parse(req.uri().query()))?;
        let found = api.queries.list(caller.viewer(), &filter, page).await?;
        Ok(Reply::json(
            StatusCode::OK,
            convert::text(&convert::list(&found, page)),
        ))
    }
}

fn parse(query: &Query) -> Result<(Filter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let external_reference =
        query.one("externalReference", ExternalReference::parse, &mut problems);
    let statuses = query.many(
        "status",
        |text| Status::parse(text).map_err(|_| Defect::NotOneOf(STATUSES)),
        &mut problems,
    );
    let page = query
        .whole("page", 1, GREATEST_PAGE, &mut problems)
        .unwrap_or(1);
    let limit = query
        .whole("limit", 1, GREATEST_LIMIT, &mut problems)
        .unwrap_or(DEFAULT_LIMIT);
    let filter = Filter {
        external_reference,
        statuses,
    };
    problems.unless_any(Some((filter, PageRequest { page, limit })))
}

#[cfg(test)]
mod tests {
    use super::{STATUSES, Status};

    #[test]
    fn the_hint_names_every_status() {
        let all: Vec<_> = Status::ALL.iter().map(|status| status.as_str()).collect();
        assert_eq!(STATUSES, all);
    }
}
