//! The overhead of a call over the same request by the HTTP library alone, as a ratio of times and as
//! allocations: `cargo bench -p preauth-client`.
#![expect(clippy::print_stdout, reason = "the figures are this program's output")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::float_arithmetic,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "a benchmark measures and divides, and ends when something is wrong"
)]

#[path = "../tests/overhead/pair.rs"]
mod pair;

use std::time::{Duration, Instant};

use allocation_counter::measure;

use pair::Pair;

/// Rounds alternate, so that whatever slows the machine slows both.
const ROUNDS: usize = 201;
const CALLS: u32 = 50;

fn main() {
    let pair = Pair::new();
    println!("call     client     bare       time ratio  allocations (client, bare)");
    compare("get", || pair.client_get(), || pair.bare_get());
    compare("create", || pair.client_create(), || pair.bare_create());
}

fn compare(name: &str, client: impl Fn(), bare: impl Fn()) {
    let mut rounds: Vec<(f64, Duration, Duration)> = (0..ROUNDS)
        .map(|round| {
            // Who goes first alternates as well.
            let (ours, theirs) = if round % 2 == 0 {
                let ours = time(&client);
                (ours, time(&bare))
            } else {
                let theirs = time(&bare);
                (time(&client), theirs)
            };
            (ours.as_secs_f64() / theirs.as_secs_f64(), ours, theirs)
        })
        .collect();
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, ours, theirs) = rounds[ROUNDS / 2];
    let [ours, theirs] = [ours, theirs].map(|it| format!("{:.1?}", it / CALLS));
    let [more, fewer] = [fewest(&client), fewest(&bare)];
    println!("{name:8} {ours:10} {theirs:10} {ratio:<11.3} {more}, {fewer}");
}

fn time(call: impl Fn()) -> Duration {
    let began = Instant::now();
    (0..CALLS).for_each(|_| call());
    began.elapsed()
}

fn fewest(call: impl Fn()) -> u64 {
    (0..20).map(|_| measure(&call).count_total).min().unwrap()
}
