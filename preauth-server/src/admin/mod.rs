//! Administration commands: an HTTP client of the platform API that never opens the database.
//!
//! Each noun has a file under `nouns/`: it parses arguments into domain values, builds a
//! [`Call`](call::Call), and names the [`View`](output::View) for the answer. Everything else is
//! common and here: finding the platform, explaining refusals, asking for confirmation, printing
//! answers.

mod advice;
mod arguments;
mod call;
mod client;
mod company_ref;
mod discovery;
mod failure;
mod handshake;
mod if_version;
mod nouns;
mod once;
mod operator_ref;
mod options;
mod output;
mod paging;
mod place;
mod platform_url;
mod question;
mod session;
mod user_ref;
mod words;

pub(crate) use failure::Failure;
pub(crate) use nouns::AdminCommand;
pub(crate) use question::confirm;
pub(crate) use words::{caused, failure_line};
