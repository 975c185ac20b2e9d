//! Errors between the ports and the database.

mod codes;
mod fault;
mod said;
mod write;

pub(super) use codes::{breaks_rule, code, is_locked};
pub(super) use fault::{Fault, Refusal};
pub(super) use said::said;
pub(super) use write::{
    WriteError, after_autocommit, after_commit, one_row_or, unavailable, unavailable_to_all,
};
