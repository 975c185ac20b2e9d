//! Operations: a pre-authorization or a direct advance, and every change that it may undergo.
//!
//! [`decide()`] returns the change that a command would make, and [`evolve()`] applies it; both are pure,
//! and no other function changes a status. One table, [`TRANSITIONS`], lists all permitted transitions.

mod actor;
mod change;
mod command;
mod context;
mod decide;
mod decide_offer;
mod evolve;
mod extension;
mod invoice;
mod offer;
mod rejection;
mod state;
mod term;
mod transition;

pub use actor::{Actor, ActorKind};
pub use change::Change;
pub use command::{Command, ReprovedBy};
pub use context::{CommandContext, Resumed};
pub use decide::{Decision, decide, possible_actions};
pub use decide_offer::{Credit, KnownSupplier, OfferContext, decide_direct_advance, decide_offer};
pub use evolve::evolve;
pub use extension::{Extension, ExtensionStatus};
pub use invoice::{AmountProblem, Invoice, InvoiceAmounts};
pub use offer::{DirectAdvance, InvoiceFile, Offer, OfferedSupplier};
pub use rejection::Rejection;
pub use state::{Closing, Operation, Party, Payer, State};
pub use term::{EARLIEST_DUE_DAYS, LATEST_DUE_DAYS, expires_at};
pub use transition::{Action, By, TRANSITIONS, Transition};
