//! The statements that both databases execute.
//!
//! A statement is written once, in the SQL that both understand; where they differ, [`sql!`] takes a
//! fragment for each. It is executed by a [`Session`], a connection of either driver, within the
//! transaction that a [`Database`] opens. Texts are fixed at compile time, or built from few parts, so
//! the drivers keep their prepared statements.

mod api_keys;
mod builder;
mod database;
mod dialect;
mod drivers;
pub(super) mod history;
pub(super) mod platform_replies;
mod query;
mod session;
mod users;
mod value;

use builder::Builder;
pub(super) use database::{Database, Run};
use dialect::{part, sql};
use platform_replies::remember;
use query::{Listed, Sql, query};
use session::Row;
pub(super) use session::{Dialect, Session};
