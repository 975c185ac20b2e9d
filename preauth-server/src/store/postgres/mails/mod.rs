//! Staged mails: sent by one side, looked at by the other.

mod due;
mod finish;
mod lease;
mod queue;
mod share;

pub(super) use due::DueMails;
