//! The statements that both databases execute.
//!
//! A statement is written once, in the SQL that both understand; where they differ, `sql!` takes a
//! fragment for each. It is executed by a [`Session`], a connection of either driver, within the
//! transaction that a [`Database`] opens. Texts are fixed at compile time, or built from few parts, so
//! the drivers keep their prepared statements.

pub(super) mod access;
mod api_keys;
pub(super) mod archive;
pub(super) mod audit_log;
mod builder;
mod companies;
mod console_sessions;
mod database;
pub(super) mod deadlines;
pub(super) mod deliveries;
mod dialect;
mod drivers;
pub(super) mod endpoints;
mod extensions;
mod feed;
pub(super) mod history;
mod invoice_files;
mod invoices;
mod listed;
pub(super) mod load;
pub(super) mod mails;
mod newest;
mod operation_search;
pub(super) mod operations;
mod operators;
mod overview;
pub(super) mod parties;
pub(super) mod payment_orders;
pub(super) mod personal_data;
pub(super) mod planner;
pub(super) mod platform_replies;
mod queries;
mod query;
pub(super) mod reports;
mod session;
mod suppressed_addresses;
mod users;
mod value;

use builder::Builder;
pub(super) use database::{Database, Run};
use dialect::{part, sql};
pub(super) use drivers::id_list;
use listed::Listed;
use platform_replies::remember;
pub(super) use queries::Reads;
use query::{Dialect, Query, Sql, query};
pub(super) use session::{Row, Session};
