//! The server under load beside the bare database: both sides of each ratio come from one run (see
//! docs/benchmarks.md). And webhooks from a create to the receiver: throughput, latency, and whether a
//! slow receiver, or a crowd that begins to hang, delays a healthy one.
//!
//! ```text
//! cargo bench -p preauth-server --bench load -- create [SECONDS]
//! cargo bench -p preauth-server --bench load -- expire [OFFERS]
//! cargo bench -p preauth-server --bench load -- list [OPERATIONS]
//! cargo bench -p preauth-server --bench load -- tenants [SECONDS]
//! cargo bench -p preauth-server --bench load -- rate [SECONDS]
//! cargo bench -p preauth-server --bench load -- latency [SECONDS]
//! cargo bench -p preauth-server --bench load -- fairness [SECONDS]
//! cargo bench -p preauth-server --bench load -- far [SECONDS]
//! cargo bench -p preauth-server --bench load -- hang [SECONDS]
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
mod fairness;
mod far;
mod hang;
mod http;
mod latency;
mod list;
mod paced;
mod pairs;
mod rate;
mod receiver;
mod scene;
mod server;
mod stage;
mod tenants;

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
        "rate" => rate::run(amount.unwrap_or(10)),
        "latency" => latency::run(amount.unwrap_or(20)),
        "fairness" => fairness::run(amount.unwrap_or(10)),
        "far" => far::run(amount.unwrap_or(2)),
        "hang" => hang::run(amount.unwrap_or(10)),
        _ => println!(
            "name what to measure: create, expire, list, tenants, rate, latency, fairness, far or hang"
        ),
    }
}
