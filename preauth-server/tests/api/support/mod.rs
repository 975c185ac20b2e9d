//! Shared by the tests: a sandbox per test, the client, raw requests, a webhook receiver.

#[macro_use]
mod backend;
mod body;
mod form;
mod raw;
mod receiver;
mod sandbox;
mod server;
mod socket;

pub(crate) use backend::{Backend, Home, write_secret};
pub(crate) use body::{offer_body, with};
pub(crate) use form::Form;
pub(crate) use raw::{Answer, RawCaller};
pub(crate) use receiver::{Arrived, TestReceiver};
pub(crate) use sandbox::{Sandbox, due_date};
pub(crate) use server::Server;
pub(crate) use socket::{connect, exchange, first_answer};
