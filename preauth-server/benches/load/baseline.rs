//! The same work done by pgbench, without any of our code.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::scene::Scene;
use crate::statistics::percentile;

/// The rows of one create.
pub(crate) const CREATE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/load/one_statement.sql"
);
/// A key, its rate window, and an operation.
pub(crate) const GET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/load/get.sql");

pub(crate) struct Done {
    pub(crate) rate: u64,
    pub(crate) transactions: u64,
    /// Of all clients, in microseconds.
    pub(crate) p50: u64,
}

/// Lets pgbench's clients execute the script one transaction after the other.
pub(crate) fn run(scene: &Scene, script: &str, clients: usize, seconds: u64) -> Done {
    run_with("", scene, script, clients, seconds)
}

/// The same without waiting for the disk, as the server counts requests.
pub(crate) fn run_not_durable(scene: &Scene, script: &str, clients: usize, seconds: u64) -> Done {
    run_with("-c synchronous_commit=off", scene, script, clients, seconds)
}

/// Transactions in each second.
pub(crate) fn each_second(scene: &Scene, script: &str, clients: usize, seconds: u64) -> Vec<u64> {
    let mut pgbench = pgbench(scene, script, clients, seconds);
    let (_, printed) = finished(pgbench.arg("--progress=1"), scene);
    let (_, progress) = printed.split_once("progress: ").unwrap();
    let seconds = progress.split("progress: ");
    seconds
        .map(|second| number_behind(second, " s, "))
        .collect()
}

fn run_with(options: &str, scene: &Scene, script: &str, clients: usize, seconds: u64) -> Done {
    let log = TempDir::new().unwrap();
    let mut pgbench = pgbench(scene, script, clients, seconds);
    pgbench.env("PGOPTIONS", options);
    // One transaction in twenty, so that the log costs next to nothing.
    pgbench.args(["--log", "--sampling-rate=0.05"]);
    let (printed, _) = finished(pgbench.current_dir(&log), scene);
    Done {
        rate: number_behind(&printed, "tps = "),
        transactions: number_behind(&printed, "transactions actually processed: "),
        p50: percentile(&latencies(&log), 50),
    }
}

fn pgbench(scene: &Scene, script: &str, clients: usize, seconds: u64) -> Command {
    let mut pgbench = Command::new("pgbench");
    pgbench.args(["--no-vacuum", "--protocol=prepared", "--jobs=2"]);
    pgbench.arg(format!("--client={clients}"));
    pgbench.arg(format!("--time={seconds}"));
    pgbench.arg(format!("--file={script}"));
    for (name, value) in scene.ids() {
        pgbench.arg(format!("--define={name}={value}"));
    }
    pgbench
}

/// What it prints as its results, and beside them.
fn finished(pgbench: &mut Command, scene: &Scene) -> (String, String) {
    let output = pgbench.arg(&scene.cluster().url).output().unwrap();
    let [results, beside] =
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    assert!(output.status.success(), "{beside}");
    (results, beside)
}

/// The third field of each line of pgbench's logs, sorted.
fn latencies(folder: &TempDir) -> Vec<u64> {
    let logs = fs::read_dir(folder).unwrap().flatten();
    let logs: Vec<String> = logs
        .map(|log| fs::read_to_string(log.path()).unwrap())
        .collect();
    let lines = logs.iter().flat_map(|log| log.lines());
    let mut micros: Vec<u64> = lines
        .filter_map(|line| line.split(' ').nth(2)?.parse().ok())
        .collect();
    micros.sort_unstable();
    micros
}

fn number_behind(text: &str, label: &str) -> u64 {
    let (_, rest) = text.split_once(label).unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
