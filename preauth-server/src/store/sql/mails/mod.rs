//! Mails: the queue's claims and their ends, lists, another try, and those about an endpoint that was
//! paused.
//!
//! Their table is `notices`: tables keep their first names, because a server of the previous version
//! runs beside the new schema.

mod claim;
mod due_mail;
mod finish;
mod lease;
mod list;
pub(super) mod pause;
mod resend;
mod share;
mod turns;

pub(in crate::store) use claim::claim;
pub(in crate::store) use finish::{FinishedMail, finish, release};
pub(in crate::store) use turns::{DueList, Position, list, one_for_each_mailbox};
