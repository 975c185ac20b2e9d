//! GET /events: the events of the caller's head office, for systems that nobody can reach from outside.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use preauth_core::ErrorCode;
use preauth_core::port::{EventFeed, FeedAnswer, FeedPage, FeedQuery};
use preauth_core::value::{EventType, Scope};
use preauth_core::wire::{EventPagination, MAX_EVENT_WAIT_SECONDS, MAX_EVENTS};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{sleep, timeout};

use crate::fair::{QueueError, charged_anew_to, in_time};
use crate::feed::{Numberer, Waiter};
use crate::http::caller::Caller;
use crate::http::error::ApiError;
use crate::http::fields::{Problems, one_of};
use crate::http::problem::{Defect, Problem};
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::server::PeerEnd;
use crate::secret::EventCursors;
use crate::worker::Shutdown;

use super::{Endpoint, IntegrationApi};

const DEFAULT_LIMIT: u32 = 20;
/// Maximum time that a request with a `wait` waits for its turn to read, or to check its key again. Longer than in any queue,
/// because all that waited do so at the same moment when an event comes or the server stops, and what they found is lost if they
/// are refused; and shorter than the 20 s that a stop leaves to requests under way.
const MAX_TURN_OF_WAITING: Duration = Duration::from_secs(15);

/// What the endpoint needs.
pub struct EventsOnRequest {
    /// The events.
    pub feed: Arc<dyn EventFeed>,
    /// Has them numbered, and knows who waits.
    pub numberer: Arc<Numberer>,
    /// Writes cursors and recognizes them.
    pub cursors: EventCursors,
    /// Bounds the requests that read at the same moment.
    pub reads: Semaphore,
    /// Ends every wait.
    pub shutdown: Shutdown,
}

impl EventsOnRequest {
    /// Maximum number of requests that read at the same moment.
    pub const MAX_READS: usize = 8;
}

pub(super) struct Events;

#[async_trait]
impl Endpoint for Events {
    const SCOPE: Scope = Scope::PreauthRead;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        if let Some(magic) = api.magic {
            let as_sent = |text: &str| Ok::<_, Defect>(text.to_owned());
            let query = Query::parse(req.uri().query());
            let cursor = query.one("after", as_sent, &mut Problems::default());
            if let Some(cursor) = cursor {
                magic.check_cursor(api, &caller, &cursor).await?;
            }
        }
        let events = &api.events;
        let (query, wait) = parameters(events, caller, req.uri().query())?;
        let waiters = events.numberer.waiters();
        let waiter = (!wait.is_zero()).then(|| waiters.enter(caller.head_office));
        let page = if let Some(waiter) = waiter.flatten() {
            let peer = req.extensions().get::<PeerEnd>().cloned();
            let end = async {
                tokio::select! {
                    biased;
                    () = sleep(wait) => {}
                    () = PeerEnd::of(peer) => {}
                }
            };
            events.next_page(&query, caller, &waiter, end).await?
        } else {
            // Not asked to wait, or as many requests wait as may.
            let turn = in_time(events.reads.acquire()).await;
            let turn = turn.map_err(ApiError::unavailable)?;
            let turn = turn.map_err(ApiError::internal)?;
            events.page(&query, caller, turn, true).await?
        };
        // It waited for long. As many end together as wait for one event, or all of them when the server stops.
        if caller.is_to_be_checked_again() {
            let _turn = events.turn_within(MAX_TURN_OF_WAITING).await?;
            api.gate.check_again(&caller, Self::SCOPE, req).await?;
        }
        let cursor = events.cursors.write(caller.company, page.next);
        let data = page.events.into_iter();
        let data = data.map(|event| RawValue::from_string(event.body));
        let answer = Answer {
            data: data.collect::<Result<_, _>>().map_err(ApiError::internal)?,
            pagination: EventPagination::new(cursor, page.has_more),
        };
        let json = serde_json::to_string(&answer).map_err(ApiError::internal)?;
        Ok(Reply::json(StatusCode::OK, json))
    }
}

impl EventsOnRequest {
    /// The page as soon as it has something, at latest at `end`, or when the server stops.
    async fn next_page(
        &self,
        query: &FeedQuery,
        caller: Caller,
        waiter: &Waiter,
        end: impl Future<Output = ()>,
    ) -> Result<FeedPage, ApiError> {
        let mut shutdown = self.shutdown.clone();
        let mut end = pin!(async {
            tokio::select! {
                biased;
                () = shutdown.requested() => {}
                () = end => {}
            }
        });
        let mut query = query.clone();
        let mut is_first = true;
        loop {
            // Before the look, so that no event comes unnoticed between it and the wait.
            let notified = waiter.notified();
            let turn = self.turn_within(MAX_TURN_OF_WAITING).await?;
            // Whoever is woken has new events that are numbered already: to have others numbered for each of them would
            // be a batch for each event.
            let page = self.page(&query, caller, turn, is_first).await?;
            is_first = false;
            if !page.events.is_empty() || page.has_more {
                return Ok(page);
            }
            // What was passed over need not be gone over again.
            query.after = Some(page.next);
            tokio::select! {
                biased;
                () = &mut end => return Ok(page),
                () = notified => {}
            }
        }
    }

    /// The page at this moment: if it is the `first`, every event that was committed before is in it or after it.
    async fn page(
        &self,
        query: &FeedQuery,
        caller: Caller,
        turn: SemaphorePermit<'_>,
        first: bool,
    ) -> Result<FeedPage, ApiError> {
        // A wait, for an event or for a turn, does not use up the time that a request may spend in queues.
        let answer = charged_anew_to(caller.tenant(), self.read(query, first)).await?;
        drop(turn);
        match answer {
            FeedAnswer::Page(page) => Ok(page),
            FeedAnswer::Expired => Err(ApiError::new(ErrorCode::EventCursorExpired)),
        }
    }

    async fn read(&self, query: &FeedQuery, first: bool) -> Result<FeedAnswer, ApiError> {
        if first {
            self.numberer.catch_up().await?;
        }
        Ok(self.feed.events(query).await?)
    }

    /// An event may wake hundreds at once: they wait for each other here, and fill no queue of the database.
    async fn turn_within(&self, max: Duration) -> Result<SemaphorePermit<'_>, ApiError> {
        let turn = timeout(max, self.reads.acquire()).await;
        turn.map_err(|_| ApiError::unavailable(QueueError::TimedOut))?
            .map_err(ApiError::internal)
    }
}

fn parameters(
    events: &EventsOnRequest,
    caller: Caller,
    query: Option<&str>,
) -> Result<(FeedQuery, Duration), Vec<Problem>> {
    let query = Query::parse(query);
    let mut problems = Problems::default();
    let read = |text: &str| {
        let place = events.cursors.read(caller.company, text);
        place.ok_or(Defect::NotACursor)
    };
    let after = query.one("after", read, &mut problems);
    let limit = query.whole("limit", 1, MAX_EVENTS, &mut problems);
    let wait = query.whole("wait", 0, MAX_EVENT_WAIT_SECONDS, &mut problems);
    let mut types = query.many("type", one_of(EventType::ALL), &mut problems);
    types.sort_unstable();
    types.dedup();
    let query = FeedQuery {
        head_office: caller.head_office,
        company: caller.company,
        after,
        types,
        limit: limit.unwrap_or(DEFAULT_LIMIT),
    };
    let wait = Duration::from_secs(wait.unwrap_or_default().into());
    problems.unless_any(Some((query, wait)))
}

impl fmt::Debug for EventsOnRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventsOnRequest").finish_non_exhaustive()
    }
}

/// The body of the answer.
#[derive(Serialize)]
struct Answer {
    /// Byte for byte as webhooks carry them.
    data: Vec<Box<RawValue>>,
    pagination: EventPagination,
}
