//! `/payment-orders`: orders to pay suppliers. What is allowed is their own table's affair.

mod act;
mod add;
mod find;
mod list;
mod shape;

pub(super) use act::ACTIONS;
pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
