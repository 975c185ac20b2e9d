//! Faults against the real binary: it is killed, stopped and frozen, its database is stopped, the
//! network to it is cut and slowed. Afterwards the acknowledged offers, the stored operations and
//! the received events must match.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a drill that cannot go on has failed"
)]
#![expect(
    clippy::print_stdout,
    reason = "figures for a reader with --no-capture"
)]

mod backlog;
mod backups;
mod chance;
mod consistency;
mod crowd;
mod database_lost;
mod erp;
mod fail_over;
mod feed_reader;
mod full_load;
mod full_queue;
mod held_reader;
mod held_snapshot;
mod history;
mod instance;
mod instances;
mod kills;
mod misbehaviour;
mod observation;
mod overlap;
mod proxy;
mod receiver;
mod removed_endpoint;
mod scene;
mod shutdown;
mod starts;
mod suppliers;
mod upgrade;
mod way_spoilt;
