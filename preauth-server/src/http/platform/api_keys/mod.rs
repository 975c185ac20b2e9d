//! `/companies/{id}/api-keys`, `/api-keys/{id}` (contract, "Authentication") and `/api-key-search`.

mod add;
mod find;
mod list;
mod revoke;
mod search;
mod shape;

pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
pub(super) use revoke::Revoke;
pub(super) use search::Search;
