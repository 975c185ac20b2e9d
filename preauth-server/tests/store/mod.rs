//! The tests of both stores, with the public suite of the core among them. `store_sqlite` and
//! `store_postgres` include this folder; each has its own `database`, `records` and `migration`.

mod access;
mod api_keys;
mod clocks;
mod companies;
mod conformance;
pub(crate) mod deliveries;
mod earlier;
mod endpoints;
pub(crate) mod expiry;
mod failing;
pub(crate) mod feed;
mod files;
pub(crate) mod fixture;
pub(crate) mod handovers;
pub(crate) mod host;
mod housekeeping;
mod invitations;
pub(crate) mod listings;
mod lists;
pub(crate) mod mails;
mod overview;
pub(crate) mod pass;
mod personal_data;
mod personal_data_page;
mod reports;
mod settling;
mod tenants;
mod unreadable;
mod unreadable_lists;
mod users;
mod watch;
