//! Staged mails: which is due first, and the sender's side.

mod due;
mod queue;

pub(super) use due::DueMails;
