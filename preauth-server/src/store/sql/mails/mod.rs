//! Mails: claims of the queue and their ends, lists, resending, and mails about an endpoint that fails or is paused.
//!
//! Their table is `notices`: a table is never renamed, because a server of the previous version runs on
//! the new schema.

mod claim;
mod due_mail;
mod failing;
mod finish;
mod forward;
mod lease;
mod list;
pub(super) mod pause;
mod resend;
mod share;
mod turns;

pub(in crate::store) use claim::claim;
pub(in crate::store) use failing::{begin_anew, notify_of_failing};
pub(in crate::store) use finish::{FinishedMail, finish, release};
pub(in crate::store) use forward::bring_forward;
pub(in crate::store) use turns::{DueList, Position, list, one_for_each_mailbox};
