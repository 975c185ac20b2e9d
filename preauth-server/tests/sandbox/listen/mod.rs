//! `listen` as developers use it: the real binary with a real sandbox.

mod conduct;
mod deliveries;
mod listener;
mod start;

pub(crate) use deliveries::SECRET;
pub(crate) use listener::Listener;
