//! GET /companies/{id}/notices: the mails of a head office, newest first.

use preauth_core::port::{MailKind, PageRequest};
use preauth_core::value::OperationId;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{MailFilter, MailStatus};
use crate::http::error::ApiError;
use crate::http::fields::{Problems, one_of};
use crate::http::list_query;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, lookup, paging};
use crate::http::problem::{Defect, Problem};
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::shape::MailShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct List;

#[async_trait]
impl Endpoint for List {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = parse(&Query::parse(req.uri().query()))?;
        let company = lookup::head_office(api, req).await?;
        let found = api.directory.mails(company, filter, page).await?;
        Ok(paging::reply(&found, page, |each| MailShape::from(each)))
    }
}

fn parse(query: &Query) -> Result<(MailFilter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let operation = |text: &str| text.parse::<OperationId>().map_err(|_| Defect::NotNumeric);
    let filter = MailFilter {
        status: query.one("status", one_of(MailStatus::ALL), &mut problems),
        kind: query.one("kind", one_of(MailKind::ALL), &mut problems),
        operation: query.one("operationId", operation, &mut problems),
    };
    let page = list_query::page(query, &mut problems);
    problems.unless_any(Some((filter, page)))
}

#[cfg(test)]
mod tests {
    use super::{MailFilter, MailKind, MailStatus, OperationId, PageRequest, Query, parse};

    #[test]
    fn a_list_is_filtered_by_status_kind_and_operation() {
        let query = "status=HELD&kind=INVITATION&operationId=12&page=2&limit=5";
        let filter = MailFilter {
            status: Some(MailStatus::Held),
            kind: Some(MailKind::Invitation),
            operation: OperationId::new(12),
        };
        let page = PageRequest { page: 2, limit: 5 };
        assert_eq!(parse(&Query::parse(Some(query))), Ok((filter, page)));
    }

    #[test]
    fn every_problem_of_the_query_is_reported() {
        let query = "status=held&kind=SPAM&operationId=NF-1&limit=0";
        let found = parse(&Query::parse(Some(query))).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["status", "kind", "operationId", "limit"]);
    }
}
