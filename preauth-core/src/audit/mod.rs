//! Whether what is stored is what the rules lead to: the same check for a live database and
//! for a simulated one.
//!
//! Every rule is pure. [`Checker`] looks at one record with all that belongs to it; an operation is
//! begun and evolved anew by its own events, and must arrive where it is stored. [`audit`] walks
//! through everything that a host has, a page at a time. Each page is of a moment of its own, so every rule
//! is about records of one page; what changes between two of them breaks none.
//!
//! What an audit cannot know: which event types an endpoint had chosen when an event happened, so
//! a delivery that was never written is not missed; and what the janitor has removed.

mod checker;
mod delivery;
mod event;
mod mail;
mod operation;
mod order;
mod replay;
mod reply;
mod rule;
mod walk;

pub use checker::{Checker, Moment};
pub use rule::{Rule, Violation};
pub use walk::{Totals, Watch, audit};
