//! Metrics and probes of a running server, as operators see them: the real binary, on SQLite and on
//! PostgreSQL.

mod clocks;
mod copies;
mod descriptors;
mod documentation;
mod durability;
pub(crate) mod exposition;
mod failing;
mod full_disk;
mod labels;
mod lost_database;
mod reload;
mod served;
pub(crate) mod server;
mod shutdown;
mod traffic;
