//! GET /companies/{id}/invitations: the names that head offices gave an invited supplier, newest
//! first.

use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, lookup, paging};
use crate::http::reply::Reply;

use super::shape::InvitationShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Invitations;

#[async_trait]
impl Endpoint for Invitations {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let company = lookup::company(api, req).await?;
        let found = api.directory.invitations(company.id, page).await?;
        Ok(paging::reply(&found, page, |each| {
            InvitationShape::from(each)
        }))
    }
}
