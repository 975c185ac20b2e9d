//! Mails: lists, another try, and those about an endpoint that was paused.

mod list;
pub(in crate::store) mod pause;
mod resend;
