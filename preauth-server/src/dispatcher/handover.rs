//! Takes deliveries over from the commits of this process, which lease them.
//!
//! Without it each event would cost a wake-up and a claim. A delivery is handed over only if it can be
//! attempted at once: while its endpoint has few attempts in progress and no backlog. When fewer than
//! three quarters of the slots are free, the endpoint must also have answered recently, so that endpoints
//! which begin to hang take no slots from those that answer.

use std::sync::{Arc, PoisonError};

use chrono::TimeDelta;
use preauth_core::port::{Handover, Leased, Room};
use preauth_core::value::{EndpointId, Timestamp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use crate::hold::Hold;

use super::attempt::Courier;
use super::slots::Slot;
use super::{Dispatcher, Limits};

/// A delivery that its commit leased, with the slot that was reserved for it.
pub(super) type Handed = (Leased, Slot);

/// Reserves slots for commits. There are never more deliveries in the queue than slots.
pub(super) struct SlotHandover {
    pub(super) courier: Arc<Courier>,
    pub(super) limits: Limits,
    pub(super) hold: Hold,
    pub(super) handed: UnboundedSender<Handed>,
}

struct Reserved {
    slot: Slot,
    lease: TimeDelta,
    /// A time before the lease began.
    since: Instant,
    courier: Arc<Courier>,
    handed: UnboundedSender<Handed>,
}

impl Handover for SlotHandover {
    fn reserve(&self, endpoint: EndpointId) -> Option<Box<dyn Room>> {
        if self.handed.is_closed() {
            return None;
        }
        let slots = &self.courier.slots;
        let share = self.limits.share(slots.in_use(), slots.in_slow_use());
        let Some(share) = share.filter(|_| !self.hold.is_held()) else {
            slots.leave_to_search(endpoint);
            return None;
        };
        let is_quiet = share.per_endpoint >= self.limits.per_endpoint_when_quiet;
        let slot = if is_quiet {
            slots.take_for_commit(endpoint, self.limits.per_endpoint_of_commits.get(), None)
        } else {
            let per_endpoint = self.limits.per_endpoint_of_commits_when_crowded;
            slots.take_for_commit(endpoint, per_endpoint, Some(self.limits.stuck_after))
        }?;
        Some(Box::new(Reserved {
            slot,
            lease: self.limits.lease,
            since: Instant::now(),
            courier: Arc::clone(&self.courier),
            handed: self.handed.clone(),
        }))
    }
}

impl Room for Reserved {
    fn lease(&self) -> TimeDelta {
        self.lease
    }

    fn now(&self) -> Timestamp {
        self.courier.clock.now()
    }

    fn take(self: Box<Self>, leased: Leased) {
        let (refused, slot) = if self.courier.has_time(self.lease, self.since) {
            match self.handed.send((leased, self.slot)) {
                Ok(()) => return,
                // The dispatcher has ended in the meantime.
                Err(refused) => refused.0,
            }
        } else {
            (leased, self.slot)
        };
        let courier = self.courier;
        courier.slots.leave_to_search(refused.endpoint);
        tokio::spawn(async move {
            courier.release(&refused).await;
            // A search that ended meanwhile has not found it; the end of the slot wakes the next one.
            courier.slots.leave_to_search(refused.endpoint);
            drop(slot);
        });
    }
}

impl Dispatcher {
    /// The queue of deliveries that commits hand over; `None` if it was taken before.
    pub(super) fn inbox(&self) -> Option<UnboundedReceiver<Handed>> {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.take()
    }
}
