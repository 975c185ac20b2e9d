//! The CPU time that processes have used, as the operating system counts it.

use std::collections::BTreeMap;
use std::fs;

use crate::scene::Scene;
use crate::server::Server;

/// Microseconds in one clock tick: 100 ticks a second on every Linux.
const TICK_US: u64 = 10_000;
/// Fields of `/proc/PID/stat` after the name, which may contain anything.
const PARENT: usize = 1;
const OWN: [usize; 2] = [11, 12];
const OF_ENDED_CHILDREN: [usize; 2] = [13, 14];

/// The fields of each process, by its number.
type Processes = BTreeMap<u32, Vec<u64>>;

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
///
/// A process that ends while they are read, as sessions do when their client is done, hands its time to a parent that
/// is read already, and neither would count it. So they are read again until nobody ended meanwhile.
fn of(roots: &[u32]) -> u64 {
    let mut earlier = members(roots);
    let now = loop {
        let now = members(roots);
        if now.keys().eq(earlier.keys()) {
            break now;
        }
        earlier = now;
    };
    let ticks = now.values().flat_map(|fields| {
        let counted = OWN.into_iter().chain(OF_ENDED_CHILDREN);
        counted.filter_map(|field| fields.get(field).copied())
    });
    ticks.sum::<u64>().saturating_mul(TICK_US)
}

/// A process and all its descendants.
pub(crate) fn family(root: u32) -> Vec<u32> {
    members(&[root]).into_keys().collect()
}

/// The fields of `roots` and all their descendants.
fn members(roots: &[u32]) -> Processes {
    let (mut members, mut others): (Processes, Processes) = processes()
        .into_iter()
        .partition(|(pid, _)| roots.contains(pid));
    loop {
        let (children, rest): (Processes, Processes) =
            others.into_iter().partition(|(_, fields)| {
                let parent = fields.get(PARENT).and_then(|it| u32::try_from(*it).ok());
                parent.is_some_and(|it| members.contains_key(&it))
            });
        others = rest;
        if children.is_empty() {
            return members;
        }
        members.extend(children);
    }
}

fn processes() -> Processes {
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
