//! `/operations`: the actions of suppliers, companies, the bank and the platform on an operation.
//! The transition table decides what is allowed.

mod act;
mod add;
mod invoice_file;
mod perform;
mod shape;

use preauth_core::ErrorCode;
use preauth_core::operation::{Operation, possible_actions};
use preauth_core::port::{Filter, HistoryEntry, PageRequest, Viewer};
use preauth_core::value::{Cnpj, ExternalReference, InvoiceNumber, Status, Timestamp};
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{OperationFilter, Page};
use crate::http::error::ApiError;
use crate::http::fields::{Problems, one_of};
use crate::http::list_query;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shared;
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::endpoint::{Endpoint, ok};
use super::sections::{OPERATION, OPERATIONS};
use super::{PlatformApi, lookup, paging};

pub(super) use act::ACTIONS;
pub(super) use add::Add;
pub(super) use invoice_file::InvoiceFile;
pub(super) use perform::{perform, perform_with_reply};
pub(crate) use shape::{
    ActingOperatorShape, FileShape, HistoryShape, NewDirectAdvance, NewInvoice, OperationDetails,
    OperationShape, Release, Reproval, Reprover,
};

/// All operations, most recent first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        let [reference, status] = shared::operation_filters();
        let cnpj = Schema::text(
            "Only those whose payer or supplier has this CNPJ.",
            "11222333000181",
        )
        .typed_cnpj();
        let number = Schema::text("Only those whose invoice has exactly this number.", "NF-1")
            .storable(InvoiceNumber::MIN_CHARS, InvoiceNumber::MAX_CHARS);
        operation
            .titled(OPERATIONS, "listOperations", "List everybody's operations")
            .note(
                "Without parameters other than `status`, all of them are listed and counted. Of more than 10,000 that match others, \
                 it is the newest 10,000, and `hasOlder` is true; narrower filters reach older ones.",
            )
            .paged()
            .parameter(reference)
            .parameter(status)
            .parameter(Parameter::query("cnpj", cnpj))
            .parameter(Parameter::query("invoiceNumber", number))
            .parameter(Parameter::query(
                "from",
                Schema::timestamp("Only those begun from this moment on.").typed_timestamp(),
            ))
            .parameter(Parameter::query(
                "until",
                Schema::timestamp("Only those begun before this moment.").typed_timestamp(),
            ))
            .answers(
                200,
                "Most recent first.",
                Schema::list_of::<OperationShape>(),
            )
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = parse(&Query::parse(req.uri().query()))?;
        let found = if filter.is_search() {
            api.directory.search_operations(&filter, page).await?
        } else {
            // Totals by status are kept, not counted.
            let filter = Filter {
                external_reference: None,
                statuses: filter.statuses,
            };
            let found = api.queries.list(Viewer::Platform, &filter, page).await?;
            Page {
                items: found.operations,
                total: found.total,
                is_cut: false,
            }
        };
        Ok(paging::reply(&found, page, |each| {
            OperationShape::from(each)
        }))
    }
}

fn parse(query: &Query) -> Result<(OperationFilter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let filter = OperationFilter {
        statuses: query.many("status", one_of(Status::ALL), &mut problems),
        // Earlier builds accepted more characters than a create does today.
        external_reference: query.one(
            "externalReference",
            ExternalReference::from_stored,
            &mut problems,
        ),
        cnpj: query.one("cnpj", Cnpj::parse, &mut problems),
        invoice_number: query.one("invoiceNumber", InvoiceNumber::from_stored, &mut problems),
        from: query.one("from", Timestamp::parse, &mut problems),
        until: query.one("until", Timestamp::parse, &mut problems),
    };
    let page = list_query::page(query, &mut problems);
    problems.unless_any(Some((filter, page)))
}

/// The number of events that the history lacks: each change of an operation records one. `None` when it
/// lacks none.
fn unreadable_events(operation: &Operation, history: &[HistoryEntry]) -> Option<u64> {
    // The operation may have changed since it was read.
    let newest = history.last().map(|entry| entry.version);
    let changes = newest.unwrap_or(operation.version).max(operation.version);
    let readable = i64::try_from(history.len()).unwrap_or(i64::MAX);
    let lacking = changes.get().saturating_sub(readable);
    u64::try_from(lacking).ok().filter(|lacking| *lacking > 0)
}

/// Maximum number of extensions in this answer; their own list has pages.
const NEWEST: PageRequest = PageRequest {
    page: 1,
    limit: PageRequest::MAX_LIMIT,
};

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                OPERATIONS,
                "getOperation",
                "Get an operation with its history",
            )
            .number(OPERATION, ErrorCode::AnticipationNotFound)
            .answers(200, "The operation.", Schema::of::<OperationDetails>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let operation = lookup::operation(api, req).await?;
        let extensions = api.directory.extensions(operation.id, NEWEST).await?;
        let file = api.directory.invoice_file(operation.id).await?;
        let history = api.queries.history(operation.id).await?;
        Ok(ok(&OperationDetails {
            operation: OperationShape::from(&operation),
            extensions: extensions.items.iter().map(Into::into).collect(),
            invoice_file: file.as_ref().map(Into::into),
            history: history.iter().map(Into::into).collect(),
            possible_actions: possible_actions(&operation).map(Into::into).collect(),
            unreadable_events: unreadable_events(&operation, &history),
        }))
    }
}
