//! Mails: lists, another try, and those about an endpoint that was paused.
//!
//! Their table is `notices`: tables keep their first names, because a server of the previous version
//! runs beside the new schema.

mod list;
pub(in crate::store) mod pause;
mod resend;
