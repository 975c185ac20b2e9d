//! `/invoices`: invoices that suppliers issued and the platform received.

mod add;
mod find;
mod list;
mod shape;

pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
