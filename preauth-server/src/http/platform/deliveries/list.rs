//! GET /companies/{id}/deliveries: a head office's, newest first.

use preauth_core::port::PageRequest;
use preauth_core::value::EventType;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{DeliveryFilter, DeliveryStatus};
use crate::http::error::ApiError;
use crate::http::fields::{Problems, one_of};
use crate::http::list_query;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, lookup, paging};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::shape::DeliveryShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct List;

#[async_trait]
impl Endpoint for List {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = parse(&Query::parse(req.uri().query()))?;
        let company = lookup::head_office(api, req).await?;
        let found = api.directory.deliveries(company, filter, page).await?;
        Ok(paging::reply(&found, page, |each| {
            DeliveryShape::from(each)
        }))
    }
}

fn parse(query: &Query) -> Result<(DeliveryFilter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let filter = DeliveryFilter {
        status: query.one("status", one_of(DeliveryStatus::ALL), &mut problems),
        event_type: query.one("eventType", one_of(EventType::ALL), &mut problems),
    };
    let page = list_query::page(query, &mut problems);
    problems.unless_any(Some((filter, page)))
}

#[cfg(test)]
mod tests {
    use super::{DeliveryFilter, DeliveryStatus, EventType, PageRequest, Query, parse};

    #[test]
    fn a_list_is_filtered_by_status_and_event_type() {
        let query = "status=FAILED&eventType=anticipation.paid&page=2&limit=5";
        let filter = DeliveryFilter {
            status: Some(DeliveryStatus::Failed),
            event_type: Some(EventType::AnticipationPaid),
        };
        let page = PageRequest { page: 2, limit: 5 };
        assert_eq!(parse(&Query::parse(Some(query))), Ok((filter, page)));
    }

    #[test]
    fn every_problem_of_the_query_is_reported() {
        let query = "status=failed&eventType=paid&page=0&limit=101";
        let found = parse(&Query::parse(Some(query))).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["status", "eventType", "page", "limit"]);
    }
}
