//! `/companies`: head offices, their branches, suppliers.

mod add;
mod find;
mod invitations;
mod list;
mod shape;
mod suspend;
mod update;

pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use invitations::Invitations;
pub(super) use list::List;
pub(super) use shape::CompanyShape;
pub(super) use suspend::{Resume, Suspend};
pub(super) use update::Update;
