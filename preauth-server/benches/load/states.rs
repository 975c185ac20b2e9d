//! Creates in three states of a database: fresh and never analysed, with a million operations, and
//! the same just restored from a dump and never analysed. Each run begins with the first second of a
//! server.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::clients::{self, Done};
use crate::fill::fill;
use crate::run::Run;
use crate::scene::Scene;
use crate::table::Table;
use crate::table::Target::{AtLeast, AtMost};

const CLIENTS: usize = 64;
/// Long enough to see a collapse.
const SECONDS: u64 = 25;
const OPERATIONS: u64 = 1_000_000;
const STATES: [&str; 3] = ["fresh", "million", "restored"];
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
        let runs = states.map(|state| (state, trial(&mut scene, state, time)));
        let mut rates = runs.each_ref().map(|(_, done)| done.rate());
        rates.sort_unstable();
        let [slowest, _, fastest] = rates;
        let what = "create, 64 clients: fastest of three states";
        table.ratio(what, "slowest", AtMost(120), "/s", (fastest, slowest));
        for (state, done) in &runs {
            let seconds = done.each_second();
            let [first, last] = halves(&seconds);
            let what = format!("create, 64 clients, {state}: second half of the run");
            table.ratio(&what, "first half", AtLeast(83), "/s", (last, first));
            if pair + 1 == run.pairs {
                table.note(format!(
                    "creates in each second, {state}: {}",
                    listed(&seconds)
                ));
            }
        }
    }
}

/// A database for each state. Nobody analyses them meanwhile: the state that a database may have for
/// its first minutes lasts.
fn prepared(run: &Run) -> Scene {
    let mut scene = Scene::postgres(run);
    scene.cluster().sql("ALTER SYSTEM SET autovacuum = off");
    scene.cluster().sql("SELECT pg_reload_conf()");
    copy(&mut scene, "postgres", "fresh");
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

fn trial(scene: &mut Scene, state: &str, time: Duration) -> Done {
    copy(scene, state, TRIAL);
    scene.move_to(TRIAL);
    let done = clients::creates(scene, CLIENTS, time);
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
