//! Access rules: API keys, the users responsible for them, and companies.
//!
//! These rules decide on data that a host has loaded; how a key is presented is up to the host.

mod company;
mod key;
mod operator;
mod user;

pub use company::{
    BranchRejection, EndpointRejection, IsBranch, KnownCompany, NotRegistered, PartiesRejection,
    Registration, RegistrationRejection, decide_branch, decide_endpoint, decide_parties,
    decide_registration, is_blocked, may_offer, subscribed_events,
};
pub use key::{DEFAULT_VALIDITY_DAYS, KeyRefusal, KeyState, KeyUse, VALIDITY_DAYS, decide_use};
pub use operator::{OperatorIdentity, OperatorRole, operator_state};
pub use user::{ResponsibleUser, may_be_responsible};
