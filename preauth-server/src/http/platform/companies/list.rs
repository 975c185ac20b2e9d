//! GET /companies: all of them, newest first, or the one with a tax id.

use preauth_core::port::PageRequest;
use preauth_core::value::Cnpj;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{Company, Page};
use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::list_query;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, paging};
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::shape::CompanyShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct List;

#[async_trait]
impl Endpoint for List {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let query = Query::parse(req.uri().query());
        let mut problems = Problems::default();
        let cnpj = query.one("cnpj", Cnpj::parse, &mut problems);
        let page = list_query::page(&query, &mut problems);
        let (cnpj, page) = problems.unless_any(Some((cnpj, page)))?;
        let found = match cnpj {
            None => api.directory.companies(page).await?,
            Some(cnpj) => one(api.directory.company_by_cnpj(&cnpj).await?, page),
        };
        Ok(paging::reply(&found, page, |each| CompanyShape::from(each)))
    }
}

/// A list with the company found, or an empty one.
fn one(found: Option<Company>, page: PageRequest) -> Page<Company> {
    let total = found.iter().count().try_into().unwrap_or_default();
    let items = found.into_iter().filter(|_| page.offset() == 0).collect();
    Page { items, total }
}
