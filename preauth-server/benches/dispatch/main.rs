//! Webhooks from a create to the receiver: throughput, latency, and whether a slow receiver delays
//! a healthy one (see docs/benchmarks.md).
//!
//! ```text
//! cargo bench -p preauth-server --bench dispatch -- rate [SECONDS]
//! cargo bench -p preauth-server --bench dispatch -- latency [SECONDS]
//! cargo bench -p preauth-server --bench dispatch -- fairness [SECONDS]
//! cargo bench -p preauth-server --bench dispatch -- far [SECONDS]
//! ```
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures, and a panic is the report of a failure"
)]

mod fairness;
mod far;
mod latency;
mod paced;
mod rate;
mod receiver;
mod stage;

#[path = "../load/cluster.rs"]
mod cluster;
#[path = "../load/cpu.rs"]
mod cpu;
#[path = "../load/http.rs"]
mod http;
#[path = "../load/server.rs"]
mod server;

#[expect(dead_code, reason = "the benchmark of creates uses the rest")]
#[path = "../load/clients.rs"]
mod clients;
#[expect(dead_code, reason = "the benchmark of creates uses the rest")]
#[path = "../load/scene.rs"]
mod scene;

fn main() {
    let mut arguments = std::env::args().skip(1);
    // `cargo test --all-targets` starts benchmarks without an argument: do nothing.
    let what = arguments.next().unwrap_or_default();
    let seconds = arguments.find_map(|it| it.parse().ok());
    match what.as_str() {
        "rate" => rate::run(seconds.unwrap_or(10)),
        "latency" => latency::run(seconds.unwrap_or(20)),
        "fairness" => fairness::run(seconds.unwrap_or(10)),
        "far" => far::run(seconds.unwrap_or(2)),
        _ => println!("name what to measure: rate, latency, fairness or far"),
    }
}
