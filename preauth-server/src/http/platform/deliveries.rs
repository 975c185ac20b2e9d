//! `/companies/{id}/deliveries` and `/deliveries/{id}`: the deliveries of webhooks and their
//! resending.

use preauth_core::ErrorCode;
use preauth_core::port::{AttemptError, PageRequest, Trigger};
use preauth_core::value::{CompanyId, DeliveryId, EventId, EventType, OperationId, Timestamp};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::{
    self, AttemptRecord, Delivery, DeliveryFilter, DeliveryStatus, DeliveryWait, DirectoryError,
};
use crate::http::error::ApiError;
use crate::http::fields::{Problems, one_of};
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{answer, request};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::requested::RequestedObject;
use crate::http::{convert, list_query, path_id};

use super::endpoint::{Endpoint, existing, ok};
use super::sections::{DELIVERIES, HEAD_OFFICE};
use super::{PlatformApi, Refusal, lookup, paging};

const DELIVERY: &str = "The delivery's id.";

answer! {
    /// An event on its way to one endpoint.
    #[derive(Debug)]
    pub(crate) struct DeliveryShape = "Delivery" {
        /// The delivery's id.
        id: DeliveryId,
        /// The head office whose endpoint it goes to.
        company_id: CompanyId,
        /// The event's id.
        event_id: EventId,
        /// The event's type.
        event_type: Open<EventType> = "anticipation.paid",
        /// The operation that the event is about.
        operation_id: Option<OperationId> = 42,
        /// Status.
        status: Open<DeliveryStatus> = "DELIVERED",
        /// When it is attempted next.
        next_attempt_at: Option<Timestamp>,
        /// When the event happened.
        created_at: Timestamp,
        /// Oldest first.
        attempts: Vec<AttemptShape>,
        // A text, not an object: the exact bytes that were signed.
        /// The very text that was signed and sent.
        body: String = r#"{"id":"018f2f3a-0000-7000-8000-000000000001","type":"anticipation.paid","createdAt":"2026-11-21T12:00:00.000Z","data":{}}"#,
    }
}

answer! {
    /// One attempt.
    #[derive(Debug)]
    pub(crate) struct AttemptShape {
        /// Which one.
        number: u32 => |it| it.at_least(1),
        /// When it began.
        at: Timestamp,
        /// How long it took, in milliseconds.
        duration_ms: u64 = 84,
        /// The answer's HTTP status.
        http_status: Option<u16> = 204,
        /// Where it ended, if it failed.
        error: Option<String> => |it| it.words(AttemptError::ALL.iter().map(|error| error.code())),
        /// The answer's first KiB.
        response_body: Option<String> = "",
        /// The cause of the attempt.
        trigger: String = "SCHEDULE" => |it| it.words(Trigger::ALL.iter().map(|it| it.as_str())),
    }
}

impl From<&Delivery> for DeliveryShape {
    fn from(delivery: &Delivery) -> Self {
        Self {
            id: delivery.id,
            company_id: delivery.company,
            event_id: delivery.event,
            event_type: delivery.event_type.as_str().into(),
            operation_id: delivery.operation,
            status: delivery.status.into(),
            next_attempt_at: delivery.next_attempt_at,
            created_at: delivery.created_at,
            attempts: delivery.attempts.iter().map(Into::into).collect(),
            body: delivery.body.clone(),
        }
    }
}

impl From<&AttemptRecord> for AttemptShape {
    fn from(attempt: &AttemptRecord) -> Self {
        Self {
            number: attempt.number,
            at: attempt.at,
            duration_ms: attempt.duration_ms,
            http_status: attempt.http_status,
            error: attempt.error.clone(),
            response_body: attempt.response_body.clone(),
            trigger: attempt.trigger.clone(),
        }
    }
}

request! {
    /// Since when.
    #[derive(Debug)]
    pub(crate) struct ResendRequest = "ResendRequest" {
        /// Whatever failed at this moment or later, in UTC.
        since: Timestamp,
    }
}

answer! {
    /// The result.
    #[derive(Debug)]
    pub(crate) struct ResentShape = "Resent" {
        /// Deliveries that are due again.
        count: u64 = 3 => |it| it.at_least(0),
    }
}

/// A head office's, newest first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        let operation = operation
            .titled(DELIVERIES, "listDeliveries", "List deliveries")
            .id(HEAD_OFFICE)
            .paged();
        filters(operation)
            .answers(200, "Newest first.", Schema::list_of::<DeliveryShape>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = filter(&Query::parse(req.uri().query()))?;
        let company = lookup::head_office(api, req).await?;
        list(api, Some(company), filter, page).await
    }
}

/// Everybody's, newest first.
#[derive(Clone, Copy)]
pub(super) struct ListAll;

#[async_trait]
impl Endpoint for ListAll {
    fn document(&self, operation: Described) -> Described {
        let operation = operation
            .titled(
                DELIVERIES,
                "listAllDeliveries",
                "List everybody's deliveries",
            )
            .note(paging::NEWEST_ONLY)
            .paged();
        filters(operation).answers(200, "Newest first.", Schema::list_of::<DeliveryShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = filter(&Query::parse(req.uri().query()))?;
        list(api, None, filter, page).await
    }
}

async fn list(
    api: &PlatformApi,
    company: Option<CompanyId>,
    filter: DeliveryFilter,
    page: PageRequest,
) -> Result<Reply, ApiError> {
    let now = api.clock.now();
    let found = api.directory.deliveries(company, filter, page, now).await?;
    Ok(paging::reply(&found, page, |each| {
        DeliveryShape::from(each)
    }))
}

/// The parameters of both lists.
fn filters(operation: Described) -> Described {
    let status = Schema::one_of("Only these.", DeliveryStatus::ALL, DeliveryStatus::Failed);
    let event = Schema::one_of("Only these.", EventType::ALL, EventType::AnticipationPaid);
    let wait = Schema::one_of(
        "Only those that wait after a failed attempt (AFTER_FAILURE), or that have been due for five minutes (OVERDUE).",
        DeliveryWait::ALL,
        DeliveryWait::AfterFailure,
    );
    let about = Schema::integer("Only those of this operation's events.", 42).at_least(1);
    operation
        .parameter(Parameter::query("status", status))
        .parameter(Parameter::query("eventType", event))
        .parameter(Parameter::query("wait", wait))
        .parameter(Parameter::query("operationId", about))
}

fn filter(query: &Query) -> Result<(DeliveryFilter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let filter = DeliveryFilter {
        status: query.one("status", one_of(DeliveryStatus::ALL), &mut problems),
        event_type: query.one("eventType", one_of(EventType::ALL), &mut problems),
        operation: query.one("operationId", list_query::operation_id, &mut problems),
        wait: query.one("wait", one_of(DeliveryWait::ALL), &mut problems),
    };
    let page = list_query::page(query, &mut problems);
    problems.unless_any(Some((filter, page)))
}

/// A delivery with its attempts and its body.
#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(DELIVERIES, "getDelivery", "Get a delivery")
            .id(DELIVERY)
            .answers(200, "The delivery.", Schema::of::<DeliveryShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        reply(api, path_id::record(req, DeliveryId::parse)?).await
    }
}

#[derive(Clone, Copy)]
pub(super) struct Resend;

#[async_trait]
impl Endpoint for Resend {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(DELIVERIES, "resendDelivery", "Send a delivery again")
            .id(DELIVERY)
            .note("Due at once, with a fresh schedule and the same event id, also when it still waits for its next attempt. One whose endpoint was removed, or that waits for its endpoint to be resumed, is a conflict.")
            .answers(200, "The delivery, pending again.", Schema::of::<DeliveryShape>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, DeliveryId::parse)?;
        let now = api.clock.now();
        let resent = match api.directory.resend(id, now).await {
            Err(DirectoryError::Conflict) => api.directory.hasten(id, now).await,
            resent => resent,
        };
        resent.map_err(Refusal::DeliveryNotResendable.on_conflict())?;
        reply(api, id).await
    }
}

/// For an endpoint that is back after a long outage.
#[derive(Clone, Copy)]
pub(super) struct ResendFailed;

#[async_trait]
impl Endpoint for ResendFailed {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                DELIVERIES,
                "resendFailedDeliveries",
                "Send again whatever failed since a moment",
            )
            .id(HEAD_OFFICE)
            .body("Since when.", Schema::of::<ResendRequest>())
            .answers(200, "How many are due again.", Schema::of::<ResentShape>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let ResendRequest { since } = ResendRequest::parse(&api.json(req).await?)?;
        let company = lookup::head_office(api, req).await?;
        let now = api.clock.now();
        let count = directory::resend_all_failed(&*api.directory, company, since, now).await?;
        Ok(ok(&ResentShape { count }))
    }
}

/// The answer with the current state of one delivery.
pub(super) async fn reply(api: &PlatformApi, id: DeliveryId) -> Result<Reply, ApiError> {
    let found = api.directory.delivery(id).await?;
    let delivery = existing(found)?;
    Ok(Reply::json(StatusCode::OK, text(&delivery)))
}

/// A delivery as answers show it.
pub(super) fn text(delivery: &Delivery) -> String {
    convert::text(&DeliveryShape::from(delivery))
}

#[cfg(test)]
mod tests {
    use super::{
        DeliveryFilter, DeliveryStatus, DeliveryWait, EventType, OperationId, PageRequest, Problem,
        Query, RequestedObject as _, ResendRequest, filter,
    };
    use crate::http::json::Json;
    use crate::http::problem::Defect;

    #[test]
    fn a_list_is_filtered_by_status_and_event_type() {
        let query =
            "status=FAILED&eventType=anticipation.paid&operationId=7&wait=OVERDUE&page=2&limit=5";
        let expected = DeliveryFilter {
            status: Some(DeliveryStatus::Failed),
            event_type: Some(EventType::AnticipationPaid),
            operation: OperationId::new(7),
            wait: Some(DeliveryWait::Overdue),
        };
        let page = PageRequest { page: 2, limit: 5 };
        assert_eq!(filter(&Query::parse(Some(query))), Ok((expected, page)));
    }

    #[test]
    fn every_problem_of_the_query_is_reported() {
        let query = "status=failed&eventType=paid&page=0&limit=101";
        let found = filter(&Query::parse(Some(query))).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["status", "eventType", "page", "limit"]);
    }

    #[test]
    fn a_moment_is_written_in_utc() {
        let since = |text: &str| {
            let body = format!(r#"{{"since": {text}}}"#);
            ResendRequest::parse(&Json::parse(body.as_bytes()).unwrap()).map(|it| it.since)
        };
        assert!(since("\"2026-11-21T12:00:00Z\"").is_ok());
        let refused = |defect| Err(vec![Problem::new("since", defect)]);
        assert_eq!(since("null"), refused(Defect::Required));
        for text in ["2026-11-21", "2026-11-21T12:00:00-03:00", ""] {
            let found = since(&format!("\"{text}\""));
            assert_eq!(found, refused(Defect::NotATimestamp), "{text}");
        }
    }
}
