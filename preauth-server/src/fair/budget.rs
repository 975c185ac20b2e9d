//! A limited resource that tenants share: connections, bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::lines::{Lines, QueueDecision};
use super::refusals::Counts;
use super::ticket::Ticket;
use super::{QueueError, Refusals, Tenant};

/// A tenant that holds more than this part of the budget is served after all that hold less.
const SHARE: u64 = 4;
/// This part stays free for tenants below their share, where others may exceed theirs.
const RESERVE: u64 = 8;

/// The amount that may be held in all; clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Shared>);

/// A part of a budget, given back on drop.
#[derive(Debug)]
pub struct Room {
    /// `None` after it was passed on.
    budget: Option<Arc<Shared>>,
    tenant: Tenant,
    amount: u64,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    total: u64,
    /// Maximum number of waiting requests.
    queue_limit: usize,
    /// Whether a tenant may exceed its share while no other tenant waits.
    is_share_exceeded: bool,
    refused: Counts,
}

#[derive(Debug)]
struct State {
    free: u64,
    held: HashMap<Tenant, u64>,
    lines: Lines<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    amount: u64,
    tenant: Tenant,
    caller: oneshot::Sender<Room>,
}

impl Budget {
    /// A budget of `total`, for which `queue_limit` requests may wait.
    #[must_use]
    pub fn new(total: u64, queue_limit: usize) -> Self {
        Self::of(total, queue_limit, true)
    }

    /// A budget of which no tenant ever holds more than a quarter.
    #[must_use]
    pub fn in_quarters(total: u64, queue_limit: usize) -> Self {
        Self::of(total, queue_limit, false)
    }

    /// Waits until the tenant of the current task may hold `amount`.
    ///
    /// Tenants are served in turn. A tenant may hold everything except an eighth; above a quarter
    /// it waits while others do. In a budget in quarters, the maximum is a quarter.
    pub async fn acquire(&self, amount: u64) -> Result<Room, QueueError> {
        let granted = self.wait_for(amount).await;
        granted.inspect_err(|reason| self.0.refused.note(*reason))
    }

    /// The number of refused requests so far.
    #[must_use]
    pub fn refusals(&self) -> Refusals {
        self.0.refused.refusals()
    }

    async fn wait_for(&self, amount: u64) -> Result<Room, QueueError> {
        let (ticket, now) = (Ticket::current(), Instant::now());
        let (caller, granted) = oneshot::channel();
        let waiting = Waiting {
            amount: amount.min(self.0.total),
            tenant: ticket.tenant,
            caller,
        };
        self.0.enqueue(waiting)?;
        self.0.grant();
        // The sender is dropped without an answer only when the request was evicted: its line was
        // the longest.
        ticket
            .in_time(now, granted)
            .await?
            .map_err(|_| QueueError::Full)
    }

    fn of(total: u64, queue_limit: usize, is_share_exceeded: bool) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                free: total,
                held: HashMap::new(),
                lines: Lines::new(),
            }),
            total,
            queue_limit,
            is_share_exceeded,
            refused: Counts::default(),
        }))
    }
}

impl Shared {
    fn enqueue(&self, waiting: Waiting) -> Result<(), QueueError> {
        let mut state = self.lock();
        if waiting.tenant != Tenant::Service && state.lines.len() >= self.queue_limit {
            state.lines.remove_where(Waiting::is_over);
            if state.lines.len() >= self.queue_limit {
                let evicted = state.lines.evict_for(waiting.tenant);
                drop(evicted.ok_or(QueueError::Full)?);
            }
        }
        state.lines.push(waiting.tenant, waiting);
        Ok(())
    }

    /// Grants free amounts to waiting requests.
    fn grant(self: &Arc<Self>) {
        while let Some(waiting) = self.next() {
            let room = Room {
                budget: Some(Arc::clone(self)),
                tenant: waiting.tenant,
                amount: waiting.amount,
            };
            if let Err(mut unwanted) = waiting.caller.send(room) {
                // Dropping it as it is would call this function again.
                unwanted.budget = None;
                self.lock().give_back(unwanted.tenant, unwanted.amount);
            }
        }
    }

    /// Takes the amount of the next waiting request, if it is free.
    fn next(&self) -> Option<Waiting> {
        let mut state = self.lock();
        let waiting = loop {
            let waiting = state.pop(self.total, self.is_share_exceeded)?;
            // One that nobody waits for any more leaves its line whatever is free, so it takes nothing.
            if !waiting.is_over() {
                break waiting;
            }
        };
        state.free = state.free.saturating_sub(waiting.amount);
        let held = state.held.entry(waiting.tenant).or_default();
        *held = held.saturating_add(waiting.amount);
        Some(waiting)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn pop(&mut self, total: u64, is_share_exceeded: bool) -> Option<Waiting> {
        let Self { free, held, lines } = self;
        let (share, reserve) = (total / SHARE, total / RESERVE);
        let within_share = |tenant, waiting: &Waiting| {
            let held = held.get(&tenant).copied().unwrap_or_default();
            tenant == Tenant::Service || held.saturating_add(waiting.amount) <= share
        };
        let served_first = |tenant, waiting: &Waiting| {
            if waiting.is_over() {
                QueueDecision::Serve
            } else if !within_share(tenant, waiting) {
                QueueDecision::Skip
            } else if waiting.amount <= *free {
                QueueDecision::Serve
            } else {
                QueueDecision::Hold
            }
        };
        let served_then = |tenant, waiting: &Waiting| {
            if within_share(tenant, waiting) {
                // The next request was found to need more than is free.
                QueueDecision::Hold
            } else if is_share_exceeded && waiting.amount <= free.saturating_sub(reserve) {
                QueueDecision::Serve
            } else {
                QueueDecision::Skip
            }
        };
        match lines.pop_where(served_first) {
            Some(waiting) => Some(waiting),
            None => lines.pop_where(served_then),
        }
    }

    fn give_back(&mut self, tenant: Tenant, amount: u64) {
        self.free = self.free.saturating_add(amount);
        if let Some(held) = self.held.get_mut(&tenant) {
            *held = held.saturating_sub(amount);
            if *held == 0 {
                self.held.remove(&tenant);
            }
        }
    }
}

impl Waiting {
    fn is_over(&self) -> bool {
        self.caller.is_closed()
    }
}

impl Room {
    /// Adds `other`, a part of the same budget held by the same tenant; both are given back
    /// together.
    pub fn add(&mut self, mut other: Self) {
        if other.budget.take().is_some() {
            self.amount = self.amount.saturating_add(other.amount);
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(budget) = self.budget.take() {
            budget.lock().give_back(self.tenant, self.amount);
            budget.grant();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;
    use preauth_core::value::CompanyId;
    use tokio::time::{Instant, sleep};
    use uuid::Uuid;

    use super::super::{QueueError, Tenant, charged_to};
    use super::{Budget, Room};

    const QUEUE: usize = 8;

    fn head_office(number: u128) -> Tenant {
        Tenant::HeadOffice(CompanyId::new(Uuid::from_u128(number)))
    }

    async fn acquire(budget: &Budget, number: u128, amount: u64) -> Result<Room, QueueError> {
        charged_to(head_office(number), budget.acquire(amount)).await
    }

    /// The amount, if it is granted without waiting.
    fn at_once(budget: &Budget, number: u128, amount: u64) -> Option<Room> {
        acquire(budget, number, amount).now_or_never()?.ok()
    }

    #[tokio::test]
    async fn one_tenant_may_hold_all_but_the_reserve_of_the_others() {
        let budget = Budget::new(16, QUEUE);
        let flood: Vec<Room> = (0..16).map_while(|_| at_once(&budget, 1, 1)).collect();
        assert_eq!(flood.len(), 14);
        assert!(at_once(&budget, 2, 1).is_some());
    }

    #[tokio::test]
    async fn one_tenant_may_hold_a_quarter_of_what_is_given_out_in_quarters() {
        let budget = Budget::in_quarters(16, QUEUE);
        let mut flood: Vec<Room> = (0..16).map_while(|_| at_once(&budget, 1, 1)).collect();
        assert_eq!(flood.len(), 4);
        let others: Vec<Room> = (2..=4).filter_map(|n| at_once(&budget, n, 4)).collect();
        assert_eq!(others.len(), 3);
        // A tenant may take again what it gave back.
        flood.pop();
        assert!(at_once(&budget, 1, 1).is_some());
    }

    #[tokio::test]
    async fn parts_that_are_added_are_given_back_together() {
        let budget = Budget::in_quarters(16, QUEUE);
        let mut room = at_once(&budget, 1, 3).unwrap();
        room.add(at_once(&budget, 1, 1).unwrap());
        assert!(at_once(&budget, 1, 1).is_none());
        drop(room);
        assert!(at_once(&budget, 1, 4).is_some());
    }

    #[tokio::test]
    async fn freed_room_goes_to_the_tenant_below_its_share() {
        let budget = Budget::new(4, QUEUE);
        let mut flood: Vec<Room> = (0..4).map_while(|_| at_once(&budget, 1, 1)).collect();
        assert_eq!(flood.len(), 4);
        let (mut more, mut quiet) = (
            Box::pin(acquire(&budget, 1, 1)),
            Box::pin(acquire(&budget, 2, 1)),
        );
        assert!(futures_util::poll!(&mut more).is_pending());
        assert!(futures_util::poll!(&mut quiet).is_pending());
        flood.pop();
        assert!(futures_util::poll!(&mut more).is_pending());
        let quiet = quiet.await.unwrap();
        drop(quiet);
        assert!(more.await.is_ok());
    }

    #[tokio::test]
    async fn a_large_request_within_its_share_is_not_overtaken_by_small_ones() {
        let budget = Budget::new(40, QUEUE);
        let held: Vec<Room> = (1..=4).filter_map(|n| at_once(&budget, n, 9)).collect();
        assert_eq!(held.len(), 4);
        let mut large = Box::pin(acquire(&budget, 5, 10));
        assert!(futures_util::poll!(&mut large).is_pending());
        assert!(at_once(&budget, 6, 1).is_none());
        drop(held);
        assert!(large.await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_room_times_out_after_five_seconds() {
        let budget = Budget::new(4, QUEUE);
        let held = acquire(&budget, 1, 4).await.unwrap();
        let begin = Instant::now();
        let late = acquire(&budget, 2, 1).await;
        assert_eq!(late.unwrap_err(), QueueError::TimedOut);
        assert_eq!(begin.elapsed(), Duration::from_secs(5));
        drop(held);
        assert!(acquire(&budget, 2, 4).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_stopped_waiting_frees_nothing() {
        let budget = Budget::new(4, QUEUE);
        let held = acquire(&budget, 1, 4).await.unwrap();
        for _ in 0..2 {
            let late = acquire(&budget, 2, 1).await;
            assert_eq!(late.unwrap_err(), QueueError::TimedOut);
            assert!(at_once(&budget, 3, 1).is_none(), "all of it is held");
        }
        drop(held);
        let whole = at_once(&budget, 1, 4);
        assert!(whole.is_some());
        assert!(at_once(&budget, 2, 1).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_request_is_served_as_soon_as_there_is_room() {
        let budget = Budget::new(4, QUEUE);
        let held = acquire(&budget, 1, 4).await.unwrap();
        let begin = Instant::now();
        let ending = async {
            sleep(Duration::from_secs(2)).await;
            drop(held);
        };
        let (granted, ()) = tokio::join!(acquire(&budget, 2, 1), ending);
        assert!(granted.is_ok());
        assert_eq!(begin.elapsed(), Duration::from_secs(2));
    }

    #[tokio::test]
    async fn a_full_line_refuses_the_newest_of_the_tenant_with_most_in_it() {
        let budget = Budget::new(1, 3);
        let held = acquire(&budget, 1, 1).await.unwrap();
        let mut flood: Vec<_> = (0..3).map(|_| Box::pin(acquire(&budget, 1, 1))).collect();
        for it in &mut flood {
            assert!(futures_util::poll!(it).is_pending());
        }
        assert_eq!(acquire(&budget, 1, 1).await.unwrap_err(), QueueError::Full);
        let mut quiet = Box::pin(acquire(&budget, 2, 1));
        assert!(futures_util::poll!(&mut quiet).is_pending());
        let newest = flood.pop().unwrap().await;
        assert_eq!(newest.unwrap_err(), QueueError::Full);
        drop(held);
        // In turn.
        let first = flood.remove(0).await;
        drop(first.unwrap());
        assert!(quiet.await.is_ok());
    }

    #[tokio::test]
    async fn a_cancelled_request_holds_no_room() {
        let budget = Budget::new(1, QUEUE);
        let held = acquire(&budget, 1, 1).await.unwrap();
        let mut gone = Box::pin(acquire(&budget, 2, 1));
        assert!(futures_util::poll!(&mut gone).is_pending());
        drop(gone);
        drop(held);
        let mut granted = Box::pin(acquire(&budget, 3, 1));
        assert!(futures_util::poll!(&mut granted).is_ready());
        // Granted and never awaited.
        drop(granted);
        assert!(at_once(&budget, 1, 1).is_some());
    }
}
