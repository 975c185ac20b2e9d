//! `/operations`: the actions of suppliers, companies, the bank and the platform on an operation.
//! The transition table decides what is allowed.

mod act;
mod add;
mod find;
mod invoice_file;
mod list;
mod shape;

pub(crate) use act::actor as acting;
pub(super) use act::{ACTIONS, perform, perform_with_reply};
pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use invoice_file::InvoiceFile;
pub(super) use list::List;
