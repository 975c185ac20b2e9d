//! `/companies/{id}/notices` and `/notices/{id}`: the mails that were staged, and how they fared.

mod find;
mod list;
mod shape;

pub(super) use find::Find;
pub(super) use list::List;
