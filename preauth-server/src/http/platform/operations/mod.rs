//! `/operations`: everything that suppliers, companies, the bank and the platform do to an
//! operation. What is allowed is the transition table's affair.

mod act;
mod add;
mod find;
mod list;
mod shape;

pub(crate) use act::actor as acting;
pub(super) use act::{ACTIONS, perform};
pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
