//! The CPU time that processes have used, as the operating system counts it.

use std::fs;

use crate::scene::Scene;
use crate::server::Server;

/// Microseconds in one clock tick: 100 ticks a second on every Linux.
const TICK_US: u64 = 10_000;
/// Fields of `/proc/PID/stat` after the name, which may contain anything.
const PARENT: usize = 1;
const OWN: [usize; 2] = [11, 12];
const OF_ENDED_CHILDREN: [usize; 2] = [13, 14];

/// CPU time in microseconds.
pub(crate) struct Spent {
    /// Of servers and database.
    all: u64,
    database: u64,
}

impl Spent {
    /// For each of so many requests.
    pub(crate) fn each(&self, requests: u64) -> u64 {
        self.all.checked_div(requests).unwrap_or_default()
    }

    /// The database's part of that.
    pub(crate) fn database_each(&self, requests: u64) -> u64 {
        self.database.checked_div(requests).unwrap_or_default()
    }
}

/// The CPU time that servers and database spend while `work` is done.
pub(crate) fn during<T>(scene: &Scene, work: impl FnOnce() -> T) -> (T, Spent) {
    // On SQLite the database is a part of the server.
    let database: Vec<u32> = scene.database_process().into_iter().collect();
    let mut all = database.clone();
    all.extend(scene.servers.iter().map(Server::process));
    let (all_before, before) = (of(&all), of(&database));
    let done = work();
    let spent = Spent {
        all: of(&all) - all_before,
        database: of(&database) - before,
    };
    (done, spent)
}

/// The same of creates, with what they leave to do later.
pub(crate) fn of_creates<T>(scene: &Scene, creates: impl FnOnce() -> T) -> (T, Spent) {
    during(scene, || {
        let done = creates();
        scene.settle();
        done
    })
}

/// The CPU time of `roots` and all their descendants, in microseconds.
fn of(roots: &[u32]) -> u64 {
    let all: Vec<(u32, Vec<u64>)> = processes();
    let mut members: Vec<u32> = roots.to_vec();
    loop {
        let children = all.iter().filter(|(pid, fields)| {
            let parent = fields.get(PARENT).copied().unwrap_or_default();
            !members.contains(pid) && members.iter().any(|it| u64::from(*it) == parent)
        });
        let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
        if children.is_empty() {
            break;
        }
        members.extend(children);
    }
    let ticks = all.iter().filter(|(pid, _)| members.contains(pid));
    let ticks = ticks.flat_map(|(_, fields)| {
        let counted = OWN.into_iter().chain(OF_ENDED_CHILDREN);
        counted.filter_map(|field| fields.get(field).copied())
    });
    ticks.sum::<u64>().saturating_mul(TICK_US)
}

fn processes() -> Vec<(u32, Vec<u64>)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        let numbers = fields
            .split_whitespace()
            .map(|it| it.parse().unwrap_or_default());
        Some((pid, numbers.collect()))
    })
    .collect()
}
