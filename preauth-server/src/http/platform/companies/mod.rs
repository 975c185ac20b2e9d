//! `/companies`: head offices, their branches, suppliers.

mod add;
mod find;
mod list;
mod shape;
mod suspend;

pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
pub(super) use shape::CompanyShape;
pub(super) use suspend::{Resume, Suspend};
