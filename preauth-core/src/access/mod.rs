//! Who may do what: the rules of API keys, of the users responsible for them, and of branches.
//!
//! As everywhere, they are decisions on what a host has loaded: nothing here knows how a key is presented.

mod branch;
mod key;
mod user;

pub use branch::{BranchRejection, HeadOffice, decide_branch};
pub use key::{DEFAULT_VALIDITY_DAYS, KeyRefusal, KeyState, KeyUse, VALIDITY_DAYS, decide_use};
pub use user::{ResponsibleUser, may_be_responsible};
