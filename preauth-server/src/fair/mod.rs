//! Fairness between tenants: one that asks for much waits for its own requests, and nobody else does.
//!
//! Whatever serves requests with less than it would take to serve all of them has a queue in front:
//! the writers, the look-ups, the connections that read, the room for uploads. These queues are made
//! here. Each serves tenants in turn; when one is full, the newest of the longest line goes; and what
//! has waited too long is answered without being worked on.

mod budget;
mod lines;
mod queue;
mod refusals;
mod ticket;

pub use budget::{Budget, Room};
pub use queue::QueueError;
pub(crate) use queue::{Queued, Receiver, Sender, channel};
pub use refusals::Refusals;
pub use ticket::{Tenant, on_account_of};
