//! `/suppressed-addresses`: the addresses that are sent no mails about offers.

use preauth_core::port::PageRequest;
use preauth_core::value::{Email, OperationId, SuppressionId, Timestamp};
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::SuppressedAddress;
use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::{list_query, path_id};

use super::endpoint::{Endpoint, existing, ok};
use super::sections::MAILS;
use super::{PlatformApi, paging};

const ENTRY: &str = "The entry's id.";

answer! {
    /// An address whose reader wants no mails about offers.
    #[derive(Clone, Debug)]
    pub(crate) struct SuppressedAddressShape = "SuppressedAddress" {
        /// The entry's id.
        id: SuppressionId,
        /// The address, in small letters and without what follows a plus sign.
        address: Text<Email> = "financeiro@fornecedor.com.br",
        /// The offer whose page was used.
        operation_id: OperationId = 42,
        /// Since when.
        since: Timestamp,
    }
}

impl From<&SuppressedAddress> for SuppressedAddressShape {
    fn from(entry: &SuppressedAddress) -> Self {
        Self {
            id: entry.id,
            address: (&entry.address).into(),
            operation_id: entry.operation,
            since: entry.since,
        }
    }
}

/// Newest first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        let address =
            Schema::email("Only the entry of this address, however it is spelled.").typed_email();
        operation
            .titled(MAILS, "listSuppressedAddresses", "List addresses that are sent no mails")
            .note("Readers put them there on the supplier's page, for offers of every company. Mails to them are SUPPRESSED.")
            .paged()
            .parameter(Parameter::query("address", address))
            .answers(200, "Newest first.", Schema::list_of::<SuppressedAddressShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (address, page) = parse(&Query::parse(req.uri().query()))?;
        let found = api.directory.suppressed_addresses(address.as_ref(), page);
        let found = found.await?;
        Ok(paging::reply(&found, page, |it| {
            SuppressedAddressShape::from(it)
        }))
    }
}

fn parse(query: &Query) -> Result<(Option<Email>, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let address = query.one("address", Email::parse, &mut problems);
    let page = list_query::page(query, &mut problems);
    problems.unless_any(Some((address, page)))
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                MAILS,
                "getSuppressedAddress",
                "Get an address that is sent no mails",
            )
            .id(ENTRY)
            .answers(200, "The entry.", Schema::of::<SuppressedAddressShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, SuppressionId::parse)?;
        let found = api.directory.suppressed_address(id).await?;
        Ok(ok(&SuppressedAddressShape::from(&existing(found)?)))
    }
}

/// Later mails are sent to the address again.
#[derive(Clone, Copy)]
pub(super) struct Remove;

#[async_trait]
impl Endpoint for Remove {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(MAILS, "removeSuppressedAddress", "Send mails to an address again")
            .id(ENTRY)
            .note("Only when its reader asked for it. Mails that were SUPPRESSED stay so until each is sent again.")
            .answers_empty(204, "Removed.")
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, SuppressionId::parse)?;
        api.directory.remove_suppressed_address(id).await?;
        Ok(Reply::no_content())
    }
}
