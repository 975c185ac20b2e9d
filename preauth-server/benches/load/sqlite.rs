//! Creates on SQLite beside a program that commits the same rows one by one, both synced, on the
//! machine's own disk and on one whose syncs take 3 ms longer.

use std::env;
use std::path::{Path, PathBuf};

use crate::clients;
use crate::one_by_one;
use crate::run::Run;
use crate::scene::Scene;
use crate::server::{self, Disk};
use crate::table::Table;
use crate::table::Target::{AtLeast, AtMost};

const CLIENTS: usize = 64;
const BESIDE: &str = "one by one";

pub(crate) fn run(run: &Run, table: &mut Table) {
    let own = "create, 64 clients, SQLite";
    let slow = "create, 64 clients, SQLite, syncs 3 ms longer";
    for (what, disk, least) in [(own, Disk::Own, 250), (slow, Disk::Slow, 800)] {
        if !disk.is_available() {
            table.note(format!(
                "{what}: not measured, because there is no C compiler"
            ));
            continue;
        }
        let scene = Scene::sqlite(disk);
        let file = one_by_one(&scene);
        clients::creates(&scene, CLIENTS, run.warm_up());
        run.alternate(
            || commits(disk, &file, run.seconds),
            || clients::creates(&scene, CLIENTS, run.time()),
            |commits, ours| {
                let rates = (ours.rate(), commits / run.seconds);
                table.ratio(
                    &format!("{what}: rate"),
                    BESIDE,
                    AtLeast(least),
                    "/s",
                    rates,
                );
                let stall = ours.longest_stall_ms();
                let what = format!("{what}: longest time without an answer");
                table.figure(&what, AtMost(250), " ms", stall);
            },
        );
    }
}

/// A database with the schema, for commits one by one.
fn one_by_one(scene: &Scene) -> PathBuf {
    let file = scene.folder().join("one-by-one.db");
    server::migrate(&format!("sqlite://{}", file.display()), scene.folder());
    file
}

/// Creates that a process of this program committed.
fn commits(disk: Disk, file: &Path, seconds: u64) -> u64 {
    let mut program = disk.command(&env::current_exe().unwrap());
    program.arg(one_by_one::NAME).arg(file);
    let output = program.arg(seconds.to_string()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}
