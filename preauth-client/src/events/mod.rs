//! Events on request, one after the other.

mod cursor_store;
mod file_cursor;

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use preauth_core::ErrorCode;
use preauth_core::value::EventType;
use preauth_core::wire::{EventList, MAX_EVENT_WAIT_SECONDS, MAX_EVENTS, RawEventEnvelope, path};

use crate::caller::Task;
use crate::{Call, Client, Error, ErrorKind, RateLimit, Response};

pub use cursor_store::{CursorResult, CursorStore, MemoryCursor};
pub use file_cursor::FileCursor;

/// The time of an attempt that is not spent waiting for an event.
const MARGIN: Duration = Duration::from_secs(5);
/// Pause after an answer without events that came at once, although it should have waited: the service has
/// too many waiting requests.
const PAUSE: Duration = Duration::from_secs(2);
/// An answer sooner than this did not wait.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The events of a company, oldest first: a [`Stream`] without end, also usable through [`next`](Self::next)
/// alone. For programs that the service cannot reach by webhooks.
///
/// **At least once.** Asking for the next event states that those before it were handled: after the last event
/// of an answer its cursor is saved, and only then the next request is sent. A program that crashes gets the
/// events of the last answer again, and no event is ever skipped. So record the effect of an event, with
/// its `id`, before asking for the next one, and pass over ids that were recorded, as with webhooks. Adapters that
/// ask ahead (`buffered`, `chunks`) break this.
///
/// **Errors.** A [retryable](Error::is_retryable) error does not end the stream: the next poll goes on at the same
/// place, and so it does when the cursor could not be loaded or saved
/// ([`ErrorKind::Cursor`]). Any other error ends it. With the code
/// [`EventCursorExpired`](ErrorCode::EventCursorExpired) events were missed: the program was away for longer
/// than events are kept, or the service's database lost a part of its history. Then look up the
/// operations in progress, and go on with [`begin_again_when_expired`](Self::begin_again_when_expired).
///
/// A type or field that this version does not know is returned as it is; see
/// [`data`](RawEventEnvelope::data).
///
/// ```no_run
/// use preauth_client::wire::EventData;
/// use preauth_client::{Client, FileCursor};
///
/// # async fn example(client: Client) -> Result<(), Box<dyn std::error::Error>> {
/// let mut events = client.events(FileCursor::new("/var/lib/erp/preauth.cursor"));
/// while let Some(event) = events.next().await {
///     let event = event?;
///     if let EventData::Operation(operation) = event.data()? {
///         println!("{}: {}", operation.anticipation_id, operation.status);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read before it is asked for"]
pub struct Events {
    client: Client,
    store: Arc<dyn CursorStore>,
    types: Vec<EventType>,
    limit: u32,
    wait: Duration,
    begins_again: bool,
    /// `None` before it was loaded.
    #[expect(
        clippy::option_option,
        reason = "not asked yet, or asked and there is none"
    )]
    cursor: Option<Option<String>>,
    /// Saved once the found events are handled.
    unsaved: Option<String>,
    found: VecDeque<RawEventEnvelope>,
    /// Whether the service has more already.
    has_more: bool,
    pause: Option<Duration>,
    /// How long to wait after a failure, before anything else.
    rest: Option<Duration>,
    question: Option<Question>,
    rate_limit: Option<RateLimit>,
    is_over: bool,
}

type Question = Pin<Box<dyn Future<Output = Result<Asked, Failed>> + Send>>;

/// An answer, with the cursor that it was asked by.
struct Asked {
    cursor: Option<String>,
    answer: Response<EventList>,
    took: Duration,
}

/// A failure, with whether the cursor was saved before.
struct Failed {
    error: Error,
    is_saved: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("the cursor of the events does not go on")]
struct StandingCursor;

impl Events {
    pub(crate) fn new(client: Client, store: Arc<dyn CursorStore>) -> Self {
        Self {
            client,
            store,
            types: Vec::new(),
            limit: MAX_EVENTS,
            wait: Duration::from_secs(MAX_EVENT_WAIT_SECONDS.into()),
            begins_again: false,
            cursor: None,
            unsaved: None,
            found: VecDeque::new(),
            has_more: true,
            pause: None,
            rest: None,
            question: None,
            rate_limit: None,
            is_over: false,
        }
    }

    /// Only events of these types (default: of all).
    pub fn types(mut self, types: impl IntoIterator<Item = EventType>) -> Self {
        self.types = types.into_iter().collect();
        self
    }

    /// Maximum number of events of one answer, 1 to 100 (default: 100). As many come again after a crash.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = limit.clamp(1, MAX_EVENTS);
        self
    }

    /// How long a request waits for the next event, in whole seconds up to 30 and 5 seconds less than
    /// [`attempt_timeout`](crate::ClientBuilder::attempt_timeout) and the
    /// [`budget`](crate::RetryPolicy::budget) of a call (default: as long as it may). With zero the stream ends
    /// when there are no more events, for programs that are started at intervals.
    pub const fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Begins again at the oldest event that is kept when the cursor has expired (default: the error ends the
    /// stream). Events that were handled come again; those in between are missed, so look the operations in progress
    /// up when that happens.
    pub const fn begin_again_when_expired(mut self) -> Self {
        self.begins_again = true;
        self
    }

    /// The next event; `None` after the last, with [`wait`](Self::wait) zero or after an error that ended the stream.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<RawEventEnvelope, Error>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// The state of the request limit, if the last answer reported it.
    #[must_use]
    pub const fn rate_limit(&self) -> Option<RateLimit> {
        self.rate_limit
    }

    /// Saves what was handled, then requests what comes next.
    fn ask(&self) -> Question {
        let (client, store) = (self.client.clone(), Arc::clone(&self.store));
        let (unsaved, known, pause) = (self.unsaved.clone(), self.cursor.clone(), self.pause);
        let rest = self.rest;
        let caller = client.caller();
        let longest = caller.attempt_timeout.min(caller.retry.total());
        let longest = longest.saturating_sub(MARGIN);
        // What is there comes at once.
        let wait = if self.has_more {
            0
        } else {
            self.wait
                .min(longest)
                .as_secs()
                .min(MAX_EVENT_WAIT_SECONDS.into())
        };
        let (types, limit) = (self.types.clone(), self.limit);
        Box::pin(async move {
            let timing = Arc::clone(&client.caller().timing);
            if let Some(rest) = rest {
                timing.sleep(rest).await;
            }
            let kept = |cause| Error::new(ErrorKind::Cursor).caused_by(cause);
            let failed = |is_saved| move |error| Failed { error, is_saved };
            let cursor = match (unsaved, known) {
                (Some(unsaved), _) => {
                    let saved = store.save(unsaved.clone()).await;
                    saved.map_err(kept).map_err(failed(false))?;
                    Some(unsaved)
                }
                (None, Some(known)) => known,
                (None, None) => store.load().await.map_err(kept).map_err(failed(true))?,
            };
            if let Some(pause) = pause {
                timing.sleep(pause).await;
            }
            let mut url = client.url(path::EVENTS);
            {
                let mut query = url.query_pairs_mut();
                if let Some(cursor) = &cursor {
                    query.append_pair("after", cursor);
                }
                query.append_pair("limit", &limit.to_string());
                for event_type in types {
                    query.append_pair("type", event_type.as_str());
                }
                if wait > 0 {
                    query.append_pair("wait", &wait.to_string());
                }
            }
            let began = timing.now();
            let answer = client.caller().call(Task::new(Call::Events, url)).await;
            let took = timing.now().saturating_sub(began);
            let answer = answer.map_err(failed(true))?;
            Ok(Asked {
                cursor,
                answer,
                took,
            })
        })
    }

    fn take_in(&mut self, outcome: Result<Asked, Failed>) -> Result<(), Error> {
        let Asked {
            cursor,
            answer,
            took,
        } = match outcome {
            Ok(asked) => asked,
            Err(Failed { error, is_saved }) => {
                if is_saved && let Some(saved) = self.unsaved.take() {
                    self.cursor = Some(Some(saved));
                }
                return self.fail(error);
            }
        };
        self.rate_limit = answer.rate_limit();
        self.rest = None;
        let list = answer.into_value();
        let waited = !self.has_more;
        self.has_more = list.pagination.has_more;
        let is_new = cursor.as_deref() != Some(&*list.pagination.next);
        if !is_new && (self.has_more || !list.data.is_empty()) {
            // Would be asked for without end.
            let error = Error::new(ErrorKind::UnexpectedAnswer).caused_by(StandingCursor);
            return self.fail(error);
        }
        self.unsaved = is_new.then_some(list.pagination.next);
        self.cursor = Some(cursor);
        let is_empty = list.data.is_empty() && !self.has_more;
        self.pause = (is_empty && waited && took < AT_ONCE).then_some(PAUSE);
        self.is_over = is_empty && self.wait.is_zero() && self.unsaved.is_none();
        self.found = list.data.into();
        Ok(())
    }

    fn fail(&mut self, error: Error) -> Result<(), Error> {
        let code = error.code().and_then(|code| code.known());
        // Without a cursor nothing can have expired.
        let had_cursor = !matches!(self.cursor, Some(None));
        if self.begins_again && had_cursor && code == Some(&ErrorCode::EventCursorExpired) {
            self.cursor = Some(None);
            self.has_more = true;
            return Ok(());
        }
        self.is_over = !error.is_retryable() && error.kind() != ErrorKind::Cursor;
        self.rest = Some(self.client.caller().wait_as_asked(error.retry_after()));
        Err(error)
    }
}

impl Stream for Events {
    type Item = Result<RawEventEnvelope, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(event) = self.found.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            if self.is_over {
                return Poll::Ready(None);
            }
            if self.question.is_none() {
                self.question = Some(self.ask());
            }
            let Some(question) = &mut self.question else {
                continue;
            };
            let outcome = ready!(question.as_mut().poll(context));
            self.question = None;
            if let Err(error) = self.take_in(outcome) {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("types", &self.types)
            .field("wait", &self.wait)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
