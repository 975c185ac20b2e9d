//! `/companies/{id}/api-keys` and `/api-keys/{id}` (contract, "Authentication").

mod add;
mod find;
mod list;
mod revoke;
mod shape;

pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
pub(super) use revoke::Revoke;
