//! Fairness between tenants: a tenant with many requests waits for its own, and delays no other
//! tenant.
//!
//! Every limited resource has a queue in front: the writers, the look-ups, the reading connections,
//! the room for uploads. This module provides the queues. Each serves tenants in turn. When one is
//! full, the newest request of the longest line is refused. A request that has waited too long is
//! answered without being processed.

mod budget;
mod lines;
mod queue;
mod queue_error;
mod refusals;
mod ticket;

pub use budget::{Budget, Room};
pub(crate) use queue::{Queued, Receiver, Sender, channel};
pub use queue_error::QueueError;
pub use refusals::Refusals;
pub use ticket::{Tenant, charged_anew_to, charged_to, in_time, waiting_apart};
