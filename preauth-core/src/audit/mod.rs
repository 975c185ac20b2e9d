//! Checks stored data against the rules, in a live database or a simulated one.
//!
//! Every rule is pure. [`Checker`] checks one record with all that belongs to it. An operation is replayed
//! from its own events, and the result must equal its stored state. [`audit`] reads everything that a host
//! has, a page at a time. Each page is a snapshot of its own, so every rule but one concerns records of one page
//! only: changes between two pages break no rule.
//!
//! That one is about the lists of events that head offices read on request: a list grows at its end and loses
//! its beginning. Of each record the audit remembers its latest version in the list.
//!
//! Limits of an audit: it cannot detect a delivery that was never written, because it does not know which
//! event types an endpoint had chosen when the event happened; and it cannot see what the janitor has
//! removed.

mod checker;
mod delivery;
mod event;
mod listing;
mod mail;
mod operation;
mod order;
mod replay;
mod reply;
mod rule;
mod walk;

pub use checker::{Checker, Moment};
pub use rule::{Rule, Violation};
pub use walk::{Totals, Watch, audit, audit_with_seals};
