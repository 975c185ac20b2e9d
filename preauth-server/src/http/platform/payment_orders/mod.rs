//! `/payment-orders`: orders to pay suppliers. Their own transition table decides what is allowed.

mod act;
mod add;
mod find;
mod list;
mod shape;

pub(super) use act::ACTIONS;
pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
