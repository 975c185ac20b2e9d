//! Administration commands: an HTTP client of the platform API that never opens the database.
//!
//! A noun is a room under `nouns/`: it reads arguments into values of core, makes a [`Call`](call::Call), and
//! names the [`View`](output::View) that shows the answer. Everything else happens once, here: where
//! the platform is, what a refusal means, what is asked before something ends, how answers look.

mod advice;
mod arguments;
mod call;
mod client;
mod company_ref;
mod discovery;
mod failure;
mod handshake;
mod nouns;
mod once;
mod options;
mod output;
mod paging;
mod place;
mod platform_url;
mod question;
mod session;
mod user_ref;

pub(crate) use failure::Failure;
pub(crate) use nouns::AdminCommand;
pub(crate) use question::confirm;
