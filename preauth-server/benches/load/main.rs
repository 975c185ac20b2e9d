//! The server under load beside the bare database: both sides of each ratio come from one run (see
//! docs/benchmarks.md).
//!
//! ```text
//! cargo bench -p preauth-server --bench load -- create [SECONDS]
//! cargo bench -p preauth-server --bench load -- expire [OFFERS]
//! cargo bench -p preauth-server --bench load -- list [OPERATIONS]
//! cargo bench -p preauth-server --bench load -- tenants [SECONDS]
//! ```
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures, and a panic is the report of a failure"
)]

mod baseline;
mod clients;
mod cluster;
mod cpu;
mod create;
mod expire;
mod http;
mod list;
mod scene;
mod server;
mod tenants;

#[path = "../dispatch/receiver.rs"]
mod receiver;

fn main() {
    let mut arguments = std::env::args().skip(1);
    // `cargo test --all-targets` starts benchmarks without an argument: do nothing.
    let what = arguments.next().unwrap_or_default();
    let amount = arguments.find_map(|it| it.parse().ok());
    match what.as_str() {
        "create" => create::run(amount.unwrap_or(create::SECONDS)),
        "expire" => expire::run(amount.unwrap_or(expire::OFFERS)),
        "list" => list::run(amount.unwrap_or(list::OPERATIONS)),
        "tenants" => tenants::run(amount.unwrap_or(tenants::SECONDS)),
        _ => println!("name what to measure: create, expire, list or tenants"),
    }
}
