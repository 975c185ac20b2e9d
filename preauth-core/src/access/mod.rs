//! Access rules: API keys, the users responsible for them, and branches.
//!
//! These rules decide on data that a host has loaded; how a key is presented is up to the host.

mod branch;
mod key;
mod user;

pub use branch::{BranchRejection, HeadOffice, decide_branch};
pub use key::{DEFAULT_VALIDITY_DAYS, KeyRefusal, KeyState, KeyUse, VALIDITY_DAYS, decide_use};
pub use user::{ResponsibleUser, may_be_responsible};
