//! Creates in four states of a database: fresh and never analysed, the same analysed, with a million
//! operations and analysed, and the same just restored from a dump and never analysed. So each state
//! without statistics has a twin of its size with them. Each run begins with the first second of a server.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::baseline;
use crate::clients::{self, Done};
use crate::fill::fill;
use crate::run::Run;
use crate::scene::Scene;
use crate::statistics::spread;
use crate::table::Table;
use crate::table::Target::{self, AtLeast, AtMost};

const CLIENTS: usize = 64;
/// Long enough to see a collapse.
const SECONDS: u64 = 25;
const OPERATIONS: u64 = 1_000_000;
const STATES: [&str; 4] = ["fresh", "analysed", "million", "restored"];
/// States whose data are not in memory when a run begins.
const LARGE: [&str; 2] = ["million", "restored"];
/// States that were never analysed, each with its analysed twin and the size of both.
const TWINS: [(&str, &str, &str); 2] = [
    ("fresh", "analysed", "3 rows"),
    ("restored", "million", "1 M"),
];
/// As slow as a state without statistics may be, beside its twin.
const ALIKE: Target = AtMost(120);
/// The copy of a state that a run works on.
const TRIAL: &str = "trial";

pub(crate) fn run(run: &Run, table: &mut Table) {
    let mut scene = prepared(run);
    let time = Duration::from_secs(run.size(SECONDS, 2));
    for pair in 0..run.pairs {
        let mut states = STATES;
        if pair % 2 == 1 {
            states.reverse();
        }
        let creates = |scene: &Scene| clients::creates(scene, CLIENTS, time);
        let runs = states.map(|state| (state, trial(&mut scene, state, creates)));
        compare(&runs, table);
        for (state, done) in &runs {
            let seconds = done.each_second();
            let what = format!("create, 64 clients, {state}");
            let [early, late] = halves(&seconds);
            let halves = (late, early);
            let half = format!("{what}: second half of the run");
            table.ratio(&half, "first half", AtLeast(83), "/s", halves);
            compare_first_second(&what, AtLeast(83), &seconds, table);
            if pair + 1 == run.pairs {
                table.note(format!(
                    "creates in each second, {state}: {}",
                    listed(&seconds)
                ));
            }
        }
        for state in LARGE {
            let seconds = trial(&mut scene, state, |scene| {
                baseline::each_second(scene, baseline::CREATE, CLIENTS, time.as_secs())
            });
            let ours = median(&run_of(&runs, state).each_second());
            table.ratio(
                &format!("create, 64 clients, {state}: median second"),
                "pgbench's one statement, 64 clients",
                AtLeast(230),
                "/s",
                (ours, median(&seconds)),
            );
            let what = format!("pgbench's one statement, 64 clients, {state}");
            compare_first_second(&what, Target::None, &seconds, table);
        }
    }
}

/// Compares each state that was never analysed with its twin, and all states with each other.
fn compare(runs: &[(&str, Done)], table: &mut Table) {
    for (never, analysed, size) in TWINS {
        let [ours, other] = [never, analysed].map(|state| run_of(runs, state));
        let what = format!("create, 64 clients, never analysed against analysed, {size}");
        let times = (time_of_one(ours.rate()), time_of_one(other.rate()));
        table.ratio(&what, "analysed", ALIKE, " us", times);
        let [ours, other] = [ours, other].map(|done| first(&done.each_second()));
        let times = (time_of_one(ours), time_of_one(other));
        let what = format!("{what}: first second");
        table.ratio(&what, "analysed", ALIKE, " us", times);
    }
    let rates: Vec<u64> = runs.iter().map(|(_, done)| done.rate()).collect();
    let [slowest, _, fastest] = spread(&rates);
    let what = "create, 64 clients: fastest of all states, whatever their size";
    table.ratio(what, "slowest", Target::None, "/s", (fastest, slowest));
}

fn compare_first_second(what: &str, target: Target, seconds: &[u64], table: &mut Table) {
    let what = format!("{what}: first second of the run");
    let rates = (first(seconds), median(seconds));
    table.ratio(&what, "its median second", target, "/s", rates);
}

fn run_of<'a>(runs: &'a [(&str, Done)], wanted: &str) -> &'a Done {
    let run = runs.iter().find(|(state, _)| *state == wanted);
    &run.unwrap().1
}

fn median(seconds: &[u64]) -> u64 {
    let [_, median, _] = spread(seconds);
    median
}

fn first(seconds: &[u64]) -> u64 {
    seconds.first().copied().unwrap_or_default()
}

/// Microseconds from one create to the next at a rate per second.
fn time_of_one(rate: u64) -> u64 {
    1_000_000_u64.checked_div(rate).unwrap_or_default()
}

/// A database for each state. Nobody analyses them meanwhile: the state that a database may have for
/// its first minutes lasts.
fn prepared(run: &Run) -> Scene {
    let mut scene = Scene::postgres(run);
    scene.cluster().sql("ALTER SYSTEM SET autovacuum = off");
    scene.cluster().sql("SELECT pg_reload_conf()");
    copy(&mut scene, "postgres", "fresh");
    copy(&mut scene, "postgres", "analysed");
    scene.cluster().sql_in("analysed", "ANALYZE");
    copy(&mut scene, "postgres", "million");
    scene.move_to("million");
    fill(&scene, run.size(OPERATIONS, 1000));
    scene.servers.clear();
    let dump = scene.folder().join("dump");
    let cluster = scene.cluster();
    cluster.sql_beside("CREATE DATABASE restored");
    let into_dump = ["--format=custom", "--compress=0", "--file"];
    execute("pg_dump", &into_dump, &dump, &cluster.url);
    let restored = cluster.url_of("restored");
    let from_dump = format!("--dbname={restored}");
    execute("pg_restore", &[&from_dump], &dump, "--exit-on-error");
    scene
}

fn execute(program: &str, options: &[&str], dump: &Path, last: &str) {
    let mut command = Command::new(program);
    let status = command.args(options).arg(dump).arg(last).status();
    assert!(status.unwrap().success(), "{program}");
}

fn trial<T>(scene: &mut Scene, state: &str, load: impl Fn(&Scene) -> T) -> T {
    copy(scene, state, TRIAL);
    scene.move_to(TRIAL);
    let done = load(scene);
    scene.servers.clear();
    scene
        .cluster()
        .sql_beside("DROP DATABASE trial WITH (FORCE)");
    done
}

/// Copies a database with its statistics. A server takes a copy for its own, as after `adopt`.
fn copy(scene: &mut Scene, from: &str, to: &str) {
    scene.servers.clear();
    let cluster = scene.cluster();
    // Sessions of servers that were killed may still be there.
    cluster.sql_beside(&format!(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = '{from}'"
    ));
    cluster.sql_beside(&format!("CREATE DATABASE {to} TEMPLATE {from}"));
    let own = "DELETE FROM deployment";
    cluster.sql_in(to, own);
    cluster.sql_beside("CHECKPOINT");
}

/// The mean rates of both halves.
fn halves(seconds: &[u64]) -> [u64; 2] {
    let (first, last) = seconds.split_at(seconds.len() / 2);
    [first, last].map(|half| {
        let count = u64::try_from(half.len()).unwrap();
        half.iter()
            .sum::<u64>()
            .checked_div(count)
            .unwrap_or_default()
    })
}

fn listed(seconds: &[u64]) -> String {
    let shown: Vec<String> = seconds.iter().map(u64::to_string).collect();
    shown.join(" ")
}
