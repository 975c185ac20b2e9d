//! `/companies/{id}/deliveries/resend-range`: sends again the deliveries of a range of time, the delivered ones too, for
//! a receiver that lost its database; and counts them beforehand.

use preauth_core::ErrorCode;
use preauth_core::value::{CompanyId, EnumSet, EventType, EventTypeSet, Timestamp};
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{self, EndedStatus, ResendPlace, ResendRange};
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{answer, request};
use crate::http::problem::{Defect, Problem};
use crate::http::reply::Reply;
use crate::http::requested::{RequestedObject, optional};
use crate::secret::ResendCursors;

use super::endpoint::{Endpoint, ok};
use super::sections::{DELIVERIES, HEAD_OFFICE};
use super::{PlatformApi, lookup};

request! {
    /// Which deliveries to send again.
    #[derive(Clone, Debug)]
    pub(crate) struct ResendRangeRequest = "ResendRangeRequest" {
        /// Only events that happened at this moment or later, in UTC.
        since: Timestamp,
        /// Only events that happened before this moment; before the first request when absent.
        until: Option<Timestamp>,
        /// Only events of these types; of all types when absent.
        event_types: Option<EventTypeSet> = vec!["anticipation.paid"]
            => |it| it.each("A type of events.").items(1, 100);
            optional(|it, name, problems| it.filled_set(name, EventType::ALL, problems)),
        /// Only deliveries that ended so; all that ended when absent.
        statuses: Option<EnumSet<EndedStatus>> = vec!["DELIVERED"]
            => |it| it.each("How a delivery ended.").items(1, 100);
            optional(|it, name, problems| it.filled_set(name, EndedStatus::ALL, problems)),
        /// The `next` of the answer before, unchanged, to go on where it ended. All other fields must be as before.
        after: Option<String> => Schema::null,
    }
}

answer! {
    /// What a request queued or counted.
    #[derive(Clone, Debug)]
    pub(crate) struct ResentRangeShape = "ResentRange" {
        /// Deliveries that are due again, or would be.
        count: u64 = 3 => |it| it.at_least(0),
        /// How many of them wait, because their endpoint is paused.
        paused: u64 = 0 => |it| it.at_least(0),
        /// How many were left out, because their endpoint was removed.
        endpoint_removed: u64 = 0 => |it| it.at_least(0),
        /// The `after` of the next request; null when nothing is left.
        next: Option<String>,
        /// Of a count without `after`: the `after` of a first request that can be repeated after a lost answer, and queues
        /// what ended until the count.
        first: Option<String>,
    }
}

/// Queues them. Repeating a request with `after` after a lost answer queues nothing twice.
#[derive(Clone, Copy)]
pub(super) struct Queue;

#[async_trait]
impl Endpoint for Queue {
    fn document(&self, operation: Described) -> Described {
        described(operation.titled(
            DELIVERIES,
            "resendDeliveries",
            "Send again the deliveries of a range of time",
        ))
        .note(
            "Also what was delivered, for a receiver that lost its database: each is due at once, with a fresh schedule, the same event id and \
             the same body. What still waits, or ended after the first request, is left as it is. A request walks over at most 20,000 \
             deliveries, the oldest events first; `next` continues. To be able to repeat the first request, count before, and give it \
             the `first` of the count as `after`: without it, what was delivered since the first try is sent once more.",
        )
        .answers(200, "How many are due again.", Schema::of::<ResentRangeShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        answer(api, req, Some(api.clock.now())).await
    }
}

/// Counts them, and changes nothing.
#[derive(Clone, Copy)]
pub(super) struct Count;

#[async_trait]
impl Endpoint for Count {
    fn only_reads(&self) -> bool {
        true
    }

    fn document(&self, operation: Described) -> Described {
        described(operation.titled(
            DELIVERIES,
            "countResendableDeliveries",
            "Count what a resend of a range of time would send",
        ))
        .note("Takes the same body, and changes nothing.")
        .answers(
            200,
            "How many would be due again.",
            Schema::of::<ResentRangeShape>(),
        )
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        answer(api, req, None).await
    }
}

fn described(operation: Described) -> Described {
    operation
        .id(HEAD_OFFICE)
        .body("Which.", Schema::of::<ResendRangeRequest>())
        .refuses(&[ErrorCode::ResourceConflict])
}

/// Queues deliveries for `due_at`, or counts them.
async fn answer(
    api: &PlatformApi,
    req: &mut Request,
    due_at: Option<Timestamp>,
) -> Result<Reply, ApiError> {
    let wanted = ResendRangeRequest::parse(&api.json(req).await?)?;
    let company = lookup::head_office(api, req).await?;
    let first = wanted.range(company, api.clock.now());
    let cursors = ResendCursors::of(&api.vault, &first, wanted.until);
    let (place, began_at) = match &wanted.after {
        None => (None, first.began_at),
        Some(text) => {
            let found = cursors.read(text);
            let refused = || vec![Problem::new("after", Defect::NotANext)];
            let (place, began_at) = found.ok_or_else(refused)?;
            (Some(place), began_at)
        }
    };
    let range = wanted.range(company, began_at);
    if range.since > range.until {
        return Err(vec![Problem::new("since", Defect::AfterUntil)].into());
    }
    let resent = directory::resend_range(&*api.directory, &range, place, due_at).await?;
    Ok(ok(&ResentRangeShape {
        count: resent.count,
        paused: resent.paused,
        endpoint_removed: resent.endpoint_removed,
        next: resent.next.map(|place| cursors.write(place, began_at)),
        first: (place.is_none() && due_at.is_none())
            .then(|| cursors.write(ResendPlace::beginning_at(range.since), began_at)),
    }))
}

impl ResendRangeRequest {
    fn range(&self, company: CompanyId, began_at: Timestamp) -> ResendRange {
        ResendRange {
            company,
            since: self.since,
            until: self.until.unwrap_or(began_at),
            event_types: self.event_types,
            statuses: self.statuses.unwrap_or_else(EnumSet::all),
            began_at,
        }
    }
}
