//! Creates over HTTP, beside what the database does without us: both sides of each ratio come from
//! one run (see docs/benchmarks.md).
//!
//! ```text
//! cargo bench -p preauth-server --bench create [-- SECONDS]
//! ```
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark tells its figures, and a panic is the report of a failure"
)]

mod baseline;
mod cpu;
mod load;
mod scene;

use std::time::Duration;

use scene::Scene;

/// Clients at once.
const CONNECTIONS: [usize; 3] = [1, 64, 256];
const BASELINE_CONNECTIONS: usize = 64;
const SECONDS: u64 = 10;

fn main() {
    let (options, numbers): (Vec<_>, Vec<_>) = std::env::args()
        .skip(1)
        .partition(|it| it.starts_with("--"));
    // A run of all tests starts benchmarks, too.
    if !options.iter().any(|it| it == "--bench") {
        return;
    }
    let seconds = numbers.first().map_or(SECONDS, |it| it.parse().unwrap());
    let scene = Scene::start();
    println!(
        "{:<34} {:>7} {:>9} {:>9} {:>9}",
        "", "per s", "p50 us", "p99 us", "CPU us"
    );
    for (name, script) in baseline::ALL {
        let before = cpu::of(&[scene.postgres]);
        let done = baseline::run(&scene, script, BASELINE_CONNECTIONS, seconds);
        let spent = cpu::of(&[scene.postgres]).saturating_sub(before);
        let each = spent.checked_div(done.transactions).unwrap_or_default();
        let title = format!("pgbench, {name}, {BASELINE_CONNECTIONS}");
        println!("{title:<34} {:>7} {:>9} {:>9} {each:>9}", done.rate, "", "");
    }
    for connections in CONNECTIONS {
        // Plans are made and connections opened before anything is measured.
        load::run(&scene, connections, Duration::from_secs(2));
        let before = cpu::of(&[scene.server, scene.postgres]);
        let done = load::run(&scene, connections, Duration::from_secs(seconds));
        let spent = cpu::of(&[scene.server, scene.postgres]).saturating_sub(before);
        let each = spent.checked_div(done.count()).unwrap_or_default();
        let (p50, p99) = (done.percentile(50), done.percentile(99));
        let title = format!("create over HTTP, {connections}");
        println!("{title:<34} {:>7} {p50:>9} {p99:>9} {each:>9}", done.rate());
    }
}
