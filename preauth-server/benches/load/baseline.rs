//! The same work done by pgbench, without any of our code. The instances are stopped meanwhile: otherwise they would give
//! numbers to its events.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::cpu::{self, Spent};
use crate::scene::{IS_NUMBERED, Scene};
use crate::statistics::percentile;

/// The rows of one create.
pub(crate) const CREATE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/load/one_statement.sql"
);
/// A key, its rate window, and an operation.
pub(crate) const GET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/load/get.sql");

/// The sessions are new, and for a second a third to a half as fast as afterwards: they read the catalogue
/// and make plans. The service's are there already.
const WARM_UP: u64 = 1;
const PAUSE: Duration = Duration::from_millis(250);

/// What was done after the warm-up.
pub(crate) struct Done {
    pub(crate) rate: u64,
    pub(crate) transactions: u64,
    /// Of all clients, in microseconds.
    pub(crate) p50: u64,
    pub(crate) spent: Spent,
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
    pgbench.arg("--progress=1").arg(&scene.cluster().url);
    scene.freeze();
    let output = pgbench.output().unwrap();
    scene.thaw();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    let (_, progress) = printed.split_once("progress: ").unwrap();
    let seconds = progress.split("progress: ");
    seconds
        .map(|second| number_behind(second, " s, "))
        .collect()
}

fn run_with(options: &str, scene: &Scene, script: &str, clients: usize, seconds: u64) -> Done {
    let log = TempDir::new().unwrap();
    let mut pgbench = pgbench(scene, script, clients, WARM_UP + seconds);
    pgbench.env("PGOPTIONS", options).current_dir(&log);
    // One transaction in twenty, so that the log costs next to nothing.
    pgbench.args(["--log", "--sampling-rate=0.05"]);
    pgbench.arg(format!("--progress={WARM_UP}"));
    pgbench.arg(&scene.cluster().url);
    pgbench.stdout(Stdio::piped()).stderr(Stdio::piped());
    scene.freeze();
    let mut running = pgbench.spawn().unwrap();
    let mut beside = BufReader::new(running.stderr.take().unwrap());
    let mut warm_up = String::new();
    beside.read_line(&mut warm_up).unwrap();
    let begun = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let mut rest = String::new();
    let (read, spent) = cpu::during(scene, || beside.read_to_string(&mut rest));
    read.unwrap();
    let output = running.wait_with_output().unwrap();
    scene.thaw();
    // Its events have their numbers before it is their turn.
    scene.wait_until(IS_NUMBERED, PAUSE);
    assert!(output.status.success(), "{warm_up}{rest}");
    let all = number_behind(
        &String::from_utf8_lossy(&output.stdout),
        "transactions actually processed: ",
    );
    let transactions = all - WARM_UP * number_behind(&warm_up, " s, ");
    Done {
        rate: transactions / seconds,
        transactions,
        p50: percentile(&latencies(&log, begun), 50),
        spent,
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

/// Those that ended since a time, sorted: the third field of each line of pgbench's logs; the fifth and sixth
/// are the time.
fn latencies(folder: &TempDir, since: Duration) -> Vec<u64> {
    let logs = fs::read_dir(folder).unwrap().flatten();
    let logs: Vec<String> = logs
        .map(|log| fs::read_to_string(log.path()).unwrap())
        .collect();
    let lines = logs.iter().flat_map(|log| log.lines());
    let mut micros: Vec<u64> = lines
        .filter_map(|line| {
            let fields: Vec<u64> = line.split(' ').map_while(|it| it.parse().ok()).collect();
            let [_, _, latency, _, seconds, micros] = fields.get(..6)?.try_into().ok()?;
            let ended = Duration::from_secs(seconds) + Duration::from_micros(micros);
            (ended >= since).then_some(latency)
        })
        .collect();
    micros.sort_unstable();
    micros
}

fn number_behind(text: &str, label: &str) -> u64 {
    let (_, rest) = text.split_once(label).unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
