//! Twice as many creates as the service can do, for a while: what it accepts must stay quick, the rest
//! is refused early, and nothing of it is left a second later.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::clients::{self, Done, STACK_BYTES, next_invoice};
use crate::connection::{Connection, micros, now};
use crate::run::Run;
use crate::scene::Scene;
use crate::server::Disk;
use crate::statistics::percentile;
use crate::table::Table;
use crate::table::Target::{self, AtLeast, AtMost};

/// Clients that measure what the service can do: as many as one company may have in progress by default.
const CLIENTS: usize = 256;
/// The service is back when so many creates in a row are as quick as at capacity.
const QUICK_IN_A_ROW: u32 = 10;
/// Clients that send more than that. Each waits for its answer, so there are never more requests.
const MANY: u32 = 1000;
/// As often as it can.
const TIMES: u64 = 2;
/// The overload lasts for so many times the duration of other measurements: a minute.
const LASTS: u32 = 6;
/// A service that is not back by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(30);
const ACCEPTED: &str = "201";
const REFUSED: &str = "503";

/// The answers of an overload.
struct Overload {
    accepted: Done,
    /// Microseconds until each refusal, sorted.
    refused: Vec<u64>,
    /// The most memory that the server had beyond what it had before.
    memory_mib: u64,
    /// How long after the end creates were as quick again as at capacity.
    back_after_ms: u64,
}

pub(crate) fn run(run: &Run, table: &mut Table) {
    for database in ["PostgreSQL", "SQLite"] {
        let scene = match database {
            "SQLite" => Scene::sqlite(Disk::Own),
            _ => Scene::postgres(run),
        };
        clients::creates(&scene, CLIENTS, run.warm_up());
        for _ in 0..run.pairs {
            let capacity = clients::creates(&scene, CLIENTS, run.time());
            let overload = overload(&scene, run, &capacity);
            report(database, &capacity, &overload, table);
        }
    }
}

const BESIDE: &str = "256 clients";

fn report(database: &str, capacity: &Done, overload: &Overload, table: &mut Table) {
    let Overload { accepted, .. } = overload;
    let what = |what: &str| format!("creates at twice capacity, {database}: {what}");
    let rates = (accepted.rate(), capacity.rate());
    table.ratio(&what("accepted"), BESIDE, AtLeast(80), "/s", rates);
    let p99s = (accepted.percentile(99), capacity.percentile(99));
    table.ratio(&what("p99 of accepted"), BESIDE, AtMost(300), " us", p99s);
    let early = (percentile(&overload.refused, 99), capacity.percentile(99));
    table.ratio(&what("p99 of refusals"), BESIDE, AtMost(300), " us", early);
    let refused = u64::try_from(overload.refused.len()).unwrap();
    let percent = (refused * 100).checked_div(refused + accepted.count());
    let percent = percent.unwrap_or_default();
    table.figure(&what("refused"), Target::None, " %", percent);
    let memory = overload.memory_mib;
    table.figure(&what("memory"), AtMost(100), " MiB more", memory);
    let back = overload.back_after_ms;
    table.figure(&what("back afterwards"), AtMost(1000), " ms", back);
}

fn overload(scene: &Scene, run: &Run, capacity: &Done) -> Overload {
    let server = scene.servers.first().unwrap().process();
    forget_peak(server);
    let before = memory_kib(server, "VmRSS:");
    let rate = u32::try_from(capacity.rate() * TIMES).unwrap().max(1);
    let time = if run.is_short {
        run.time()
    } else {
        run.time() * LASTS
    };
    let begun = now();
    let answers: Vec<Answers> = thread::scope(|scope| {
        let running: Vec<_> = (0..MANY)
            .map(|client| {
                let thread = thread::Builder::new().stack_size(STACK_BYTES);
                let client = move || send(scene, client, rate, begun, time);
                thread.spawn_scoped(scope, client).unwrap()
            })
            .collect();
        running.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let elapsed = micros(begun);
    let memory_mib = memory_kib(server, "VmHWM:").saturating_sub(before) / 1024;
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for one in answers {
        accepted.extend(one.accepted);
        refused.extend(one.refused);
    }
    refused.sort_unstable();
    Overload {
        accepted: Done::of(accepted, elapsed),
        refused,
        memory_mib,
        back_after_ms: back_after_ms(scene, capacity.percentile(99)),
    }
}

#[derive(Default)]
struct Answers {
    /// How long each took, and when it came.
    accepted: Vec<(u64, u64)>,
    refused: Vec<u64>,
}

/// One of the clients that together send `rate` creates a second, and of which none skips a create
/// because it is late.
fn send(scene: &Scene, client: u32, rate: u32, begun: Instant, time: Duration) -> Answers {
    let mut connection = Connection::to(scene.address(0));
    let mut answers = Answers::default();
    let step = Duration::from_secs(1) / rate;
    for turn in 0_u32.. {
        let due = step * (turn * MANY + client);
        if due >= time || begun.elapsed() >= time {
            break;
        }
        thread::sleep(due.saturating_sub(begun.elapsed()));
        let answer = connection.exchange(&scene.payer.create(next_invoice(), 0));
        match answer.status() {
            Some(ACCEPTED) => answers.accepted.push((answer.took, micros(begun))),
            other => {
                let is_for_now = other == Some(REFUSED) && answer.has_retry_after();
                assert!(is_for_now, "neither created nor refused for now: {other:?}");
                answers.refused.push(answer.took);
            }
        }
    }
    answers
}

/// Sends one create after the other; returns when the first of those came that are as quick as at
/// capacity.
fn back_after_ms(scene: &Scene, most_us: u64) -> u64 {
    let mut connection = Connection::to(scene.address(0));
    let (ended, mut back, mut quick) = (now(), 0, 0);
    while quick < QUICK_IN_A_ROW && ended.elapsed() < PATIENCE {
        let answer = connection.exchange(&scene.payer.create(next_invoice(), 0));
        if answer.status() == Some(ACCEPTED) && answer.took <= most_us {
            quick += 1;
        } else {
            (quick, back) = (0, micros(ended) / 1000);
        }
    }
    back
}

/// Makes the most memory that a process ever had what it has now.
fn forget_peak(process: u32) {
    // Without the right to do so the peak before counts as well.
    let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
}

fn memory_kib(process: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.unwrap().parse().unwrap()
}
