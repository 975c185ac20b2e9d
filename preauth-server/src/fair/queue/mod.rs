//! A queue of requests in front of a task that serves them in groups.
//!
//! A burst waits in the queue. But a queue that is never empty, though its task goes on, only makes every
//! request wait as long as its places last: then what would wait is refused at once instead, so that what
//! is accepted stays quick.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::lines::Lines;
use super::refusals::Counts;
use super::ticket::Ticket;
use super::{QueueError, Refusals, Tenant};

/// A queue that has not been empty for this long stands: more comes than is served.
const STANDS_AFTER: Duration = Duration::from_millis(500);
/// In a queue that stands no request is accepted behind one of the same tenant that has waited this long.
const MAX_STANDING_WAIT: Duration = Duration::from_millis(100);
/// A queue of which nothing is taken for this long is not served.
const PAUSES_AFTER: Duration = Duration::from_millis(250);

/// A request in a queue, with its caller.
pub(crate) trait Queued: Send {
    /// Whether its caller no longer waits for the answer.
    fn is_abandoned(&self) -> bool;

    /// Answers its caller with a refusal; nothing was done.
    fn refuse(self, reason: QueueError);
}

/// A queue with places for `limit` requests of tenants, and as many of the service's own, that are served
/// in groups of at most `group`. It closes when its sender or its receiver is dropped.
pub(crate) fn channel<T: Queued>(limit: usize, group: usize) -> (Sender<T>, Receiver<T>) {
    let now = Instant::now();
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            lines: Lines::new(),
            is_closed: false,
            emptied_at: now,
            taken_at: now,
        }),
        filled: Notify::new(),
        limit,
        group,
        refused: Counts::default(),
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// The sending side of a queue.
pub(crate) struct Sender<T: Queued>(Arc<Shared<T>>);

/// The receiving side; several tasks may take requests.
pub(crate) struct Receiver<T: Queued>(Arc<Shared<T>>);

struct Shared<T> {
    state: Mutex<State<T>>,
    filled: Notify,
    limit: usize,
    group: usize,
    refused: Counts,
}

struct State<T> {
    lines: Lines<Waiting<T>>,
    is_closed: bool,
    /// When it was last empty but for the service's own requests, or was served again after a pause.
    emptied_at: Instant,
    /// When requests were last taken.
    taken_at: Instant,
}

struct Waiting<T> {
    request: T,
    ticket: Arc<Ticket>,
    since: Instant,
    deadline: Option<Instant>,
}

/// The requests removed in one step.
struct Taken<T> {
    group: Vec<T>,
    /// Requests that are not processed any more.
    over: Vec<Waiting<T>>,
    rest: Rest,
}

/// The remaining state of the queue.
enum Rest {
    More,
    Nothing,
    /// Empty and closed.
    End,
}

impl<T: Queued> Sender<T> {
    /// Queues a request as [`Sender::send`] does, and waits for its `answer`. A queued request is
    /// refused at its deadline, also while the receiver takes nothing; once taken it has no
    /// deadline.
    pub(crate) async fn ask<A>(
        &self,
        request: T,
        answer: impl Future<Output = A>,
    ) -> Result<A, QueueError> {
        let deadline = self.send(request)?;
        let mut answer = pin!(answer);
        if let Some(deadline) = deadline {
            if let Ok(answer) = timeout_at(deadline, answer.as_mut()).await {
                return Ok(answer);
            }
            self.0.refuse_overdue();
        }
        Ok(answer.await)
    }

    /// Queues a request for the current task's tenant, and returns its deadline. If there is no
    /// room, the newest request of the tenant with the most requests is refused instead, or this
    /// one if the tenant is its own.
    pub(crate) fn send(&self, request: T) -> Result<Option<Instant>, QueueError> {
        let (ticket, now) = (Ticket::current(), Instant::now());
        let (tenant, deadline) = (ticket.tenant, ticket.deadline(now));
        let waiting = Waiting {
            request,
            ticket,
            since: now,
            deadline,
        };
        let mut over = Vec::new();
        let sent = self.0.push(tenant, waiting, &mut over);
        self.0.refuse(over, now);
        match sent {
            Ok(()) => self.0.filled.notify_one(),
            Err(reason) => self.0.refused.note(reason),
        }
        sent.map(|()| deadline)
    }

    /// Accepts no more requests; waiting ones are still handed out.
    pub(crate) fn close(&self) {
        self.0.lock().is_closed = true;
        self.0.filled.notify_waiters();
        self.0.filled.notify_one();
    }

    /// The number of refused requests so far.
    pub(crate) fn refusals(&self) -> Refusals {
        self.0.refused.refusals()
    }

    /// The number of waiting requests, and its maximum.
    pub(crate) fn length_and_limit(&self) -> (usize, usize) {
        let state = self.0.lock();
        let length = state
            .lines
            .len()
            .saturating_add(state.lines.len_of_service());
        (length, self.0.limit)
    }
}

impl<T: Queued> Receiver<T> {
    /// The next requests, at most `limit`, in the tenants' turns; empty when the queue is closed
    /// and empty. Cancel-safe.
    pub(crate) async fn take(&self, limit: usize) -> Vec<T> {
        loop {
            let filled = self.0.filled.notified();
            let Taken { group, over, rest } = self.0.lock().take(limit);
            self.0.refuse(over, Instant::now());
            match rest {
                // Wakes another task.
                Rest::More => self.0.filled.notify_one(),
                Rest::End => return group,
                Rest::Nothing if group.is_empty() => {
                    filled.await;
                    continue;
                }
                Rest::Nothing => {}
            }
            return group;
        }
    }
}

impl<T: Queued> State<T> {
    /// Other requests that must be refused are added to `over`.
    fn push(
        &mut self,
        tenant: Tenant,
        waiting: Waiting<T>,
        (limit, group): (usize, usize),
        over: &mut Vec<Waiting<T>>,
    ) -> Result<(), QueueError> {
        if self.is_closed {
            return Err(QueueError::Closed);
        }
        if self.lines.has_no_tenant() {
            self.emptied_at = waiting.since;
        }
        if self.stands_too_long(tenant, waiting.since, group) {
            return Err(QueueError::Full);
        }
        let is_full = |lines: &Lines<_>| match tenant {
            Tenant::Service => lines.len_of_service() >= limit,
            Tenant::Platform | Tenant::HeadOffice(_) | Tenant::Unknown => lines.len() >= limit,
        };
        if is_full(&self.lines) {
            let now = waiting.since;
            over.extend(self.lines.remove_where(|it| it.is_over(now)));
        }
        if is_full(&self.lines) {
            if tenant == Tenant::Service {
                return Err(QueueError::Full);
            }
            over.push(self.lines.evict_for(tenant).ok_or(QueueError::Full)?);
        }
        self.lines.push(tenant, waiting);
        Ok(())
    }

    /// Whether more comes than is served, and the tenant's own requests wait because of it. While nothing is
    /// taken, as on a database that is away for a moment, requests wait for their deadlines.
    fn stands_too_long(&self, tenant: Tenant, now: Instant, group: usize) -> bool {
        tenant != Tenant::Service
            && self.lines.len() >= group
            && now.duration_since(self.emptied_at) >= STANDS_AFTER
            && now.duration_since(self.taken_at) < PAUSES_AFTER
            && self
                .lines
                .first_of(tenant)
                .is_some_and(|first| now.duration_since(first.since) >= MAX_STANDING_WAIT)
    }

    fn take(&mut self, limit: usize) -> Taken<T> {
        let now = Instant::now();
        // What gathered while nothing was served does not show that more comes than is served.
        if now.duration_since(self.taken_at) >= PAUSES_AFTER {
            self.emptied_at = now;
        }
        self.taken_at = now;
        let (mut group, mut over) = (Vec::new(), Vec::new());
        while group.len() < limit
            && let Some(waiting) = self.lines.pop()
        {
            if waiting.is_over(now) {
                over.push(waiting);
                continue;
            }
            waiting.ticket.note_wait(now.duration_since(waiting.since));
            group.push(waiting.request);
        }
        if self.lines.has_no_tenant() {
            self.emptied_at = now;
        }
        let rest = match (self.lines.is_empty(), self.is_closed) {
            (false, _) => Rest::More,
            (true, false) => Rest::Nothing,
            (true, true) => Rest::End,
        };
        Taken { group, over, rest }
    }
}

impl<T: Queued> Waiting<T> {
    /// Whether it need not be processed any more. The service's own requests always are.
    fn is_over(&self, now: Instant) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline <= now || self.request.is_abandoned())
    }

    /// Why it is refused.
    fn reason(&self, now: Instant) -> QueueError {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            QueueError::TimedOut
        } else {
            QueueError::Full
        }
    }
}

impl<T: Queued> Shared<T> {
    fn push(
        &self,
        tenant: Tenant,
        waiting: Waiting<T>,
        over: &mut Vec<Waiting<T>>,
    ) -> Result<(), QueueError> {
        let limits = (self.limit, self.group);
        self.lock().push(tenant, waiting, limits, over)
    }

    /// Refuses all requests past their deadline.
    fn refuse_overdue(&self) {
        let now = Instant::now();
        let over = self.lock().lines.remove_where(|it| it.is_over(now));
        self.refuse(over, now);
    }

    /// Not under the lock: a caller may do anything when it is notified.
    fn refuse(&self, over: Vec<Waiting<T>>, now: Instant) {
        for waiting in over {
            let reason = waiting.reason(now);
            if !waiting.request.is_abandoned() {
                self.refused.note(reason);
            }
            waiting.request.refuse(reason);
        }
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Queued> Drop for Sender<T> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<T: Queued> Drop for Receiver<T> {
    /// Requests left in the queue must not wait for ever.
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        let left = state.lines.drain();
        drop(state);
        for waiting in left {
            waiting.request.refuse(QueueError::Closed);
        }
    }
}

impl<T: Queued> std::fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
