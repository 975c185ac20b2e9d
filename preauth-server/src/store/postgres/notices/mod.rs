//! Staged mails: sent by one side, looked at by the other.

mod list;
pub(super) mod pause;
mod queue;
mod resend;
