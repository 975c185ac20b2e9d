//! Staged mails: sent by one side, looked at by the other.

mod due;
mod finish;
mod lease;
mod list;
pub(super) mod pause;
mod queue;
mod resend;
mod share;

pub(super) use due::DueMails;
