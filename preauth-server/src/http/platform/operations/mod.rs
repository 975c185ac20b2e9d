//! `/operations`: everything that suppliers, companies, the bank and the platform do to an
//! operation. What is allowed is the transition table's affair.

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
