//! Staged mails: which is due first, and the sender's side.

mod due;
mod finish;
mod queue;

pub(super) use due::DueMails;
pub(super) use finish::{FINISH_LIMITS, MailFinisher};
