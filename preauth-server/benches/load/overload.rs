//! Twice as many creates as the service can do, for a minute: what it accepts must stay quick, the rest
//! is refused early, and nothing of it is left a second later. The arrivals are an open loop: each has
//! its time, whether or not earlier ones were answered.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::clients::{self, Done, STACK_BYTES, next_invoice};
use crate::company::Company;
use crate::connection::{Answer, Connection, micros, now};
use crate::memory;
use crate::processors::{Processors, Share};
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
/// Connections that the arrivals take in turn: fewer than the 2,048 that a server has by default, and
/// more than are busy while it refuses early. An arrival that finds none free is late, which counts
/// as a part of its time.
const CONNECTIONS: usize = 1_500;
/// Companies whose creates arrive: one alone may have an eighth of a server's connections in progress, and would
/// be refused for that before the service is overloaded.
const COMPANIES: usize = 16;
/// The number of the first of them.
const FIRST_COMPANY: u64 = 1_000;
/// As often as it can.
const TIMES: u64 = 2;
/// The overload lasts this long.
const LASTS: Duration = Duration::from_mins(1);
/// A service that is not back by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a client waits that was refused.
const COMES_BACK: Duration = Duration::from_secs(1);
/// An arrival is late when it was sent so long after its time.
const LATE: Duration = Duration::from_millis(100);
const ACCEPTED: &str = "201";
/// The service has too much to do.
const OVERLOADED: &str = "503";
/// One company has too much in progress.
const CROWDED: &str = "429";

/// The answers of an overload.
struct Overload {
    accepted: Done,
    /// Microseconds until each refusal, sorted.
    refused: Vec<u64>,
    /// How many of these were for what one company had in progress.
    crowded: u64,
    /// Arrivals that were sent late.
    late: u64,
    /// The most memory that the server had beyond what it had before.
    memory_mib: u64,
    /// How long after the end creates were as quick again as at capacity.
    back_after_ms: u64,
}

pub(crate) fn run(run: &Run, table: &mut Table) {
    allow_many_files();
    // The senders have processors of their own: those of an overload would take them from the service otherwise, as
    // no sender does that is on another machine.
    let processors = Processors::halved();
    for database in ["PostgreSQL", "SQLite"] {
        processors.use_for_new(Share::FirstHalf);
        let mut scene = match database {
            "SQLite" => Scene::sqlite(Disk::Own),
            _ => Scene::postgres(run),
        };
        scene.restart_with_default_limits();
        processors.use_for_new(Share::SecondHalf);
        let platform = scene.platform();
        let companies: Vec<_> = (FIRST_COMPANY..)
            .take(COMPANIES)
            .map(|number| Company::register(platform, number))
            .collect();
        clients::creates(&scene, CLIENTS, run.warm_up());
        for _ in 0..run.pairs {
            let capacity = capacity(&scene, run, database, table);
            let overload = overload(&scene, &companies, run, &capacity);
            report(database, &capacity, &overload, table);
        }
    }
}

/// Each connection is two files, and many systems allow a program a thousand unless it asks for more.
fn allow_many_files() {
    let allowed = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: allowed.maximum,
        maximum: allowed.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

const BESIDE: &str = "256 clients";

/// What as many clients reach that wait for each answer. One that is refused, as on a machine so slow that what they send
/// waits for too long, comes back when it was asked to.
fn capacity(scene: &Scene, run: &Run, database: &str, table: &mut Table) -> Done {
    let refused = AtomicU64::new(0);
    let capacity = clients::repeat(scene, CLIENTS, run.time(), &|connection| {
        let answer = connection.exchange(&scene.payer.create(next_invoice(), 0));
        let is_accepted = answer.status() == Some(ACCEPTED);
        if !is_accepted {
            assert!(is_for_now(&answer), "{:?}", answer.status());
            refused.fetch_add(1, Ordering::Relaxed);
            thread::sleep(COMES_BACK);
        }
        is_accepted.then_some(answer.took)
    });
    let what = format!("creates of {BESIDE}, {database}: refused");
    table.figure(&what, Target::None, "", refused.into_inner());
    capacity
}

/// Whether the request was refused, and may be sent again later.
fn is_for_now(answer: &Answer) -> bool {
    matches!(answer.status(), Some(OVERLOADED | CROWDED)) && answer.has_retry_after()
}

fn report(database: &str, capacity: &Done, overload: &Overload, table: &mut Table) {
    let Overload { accepted, .. } = overload;
    let what = |what: &str| format!("creates at twice capacity, {database}: {what}");
    let rates = (accepted.rate(), capacity.rate());
    table.ratio(&what("accepted"), BESIDE, AtLeast(80), "/s", rates);
    let p99s = (accepted.percentile(99), capacity.percentile(99));
    table.ratio(&what("p99 of accepted"), BESIDE, AtMost(300), " us", p99s);
    let early = (percentile(&overload.refused, 99), capacity.percentile(99));
    table.ratio(&what("p99 of refusals"), BESIDE, AtMost(100), " us", early);
    let refused = u64::try_from(overload.refused.len()).unwrap();
    let all = refused + accepted.count();
    let percent = |part: u64| (part * 100).checked_div(all).unwrap_or_default();
    // Of arrivals at twice what is possible a half is too many.
    table.figure(&what("refused"), AtLeast(25), " %", percent(refused));
    let crowded = percent(overload.crowded);
    table.figure(
        &what("refused for their company"),
        Target::None,
        " %",
        crowded,
    );
    let late = percent(overload.late);
    table.figure(&what("sent late"), Target::None, " %", late);
    let memory = overload.memory_mib;
    table.figure(&what("memory"), AtMost(100), " MiB more", memory);
    let back = overload.back_after_ms;
    table.figure(&what("back afterwards"), AtMost(1000), " ms", back);
}

fn overload(scene: &Scene, companies: &[Company], run: &Run, capacity: &Done) -> Overload {
    let server = scene.servers.first().unwrap().process();
    memory::forget_peak(server);
    let before = memory::resident_kib(server);
    let rate = u32::try_from(capacity.rate() * TIMES).unwrap().max(1);
    let time = if run.is_short { run.time() } else { LASTS };
    let arrivals = Arrivals {
        begun: now(),
        step: Duration::from_secs(1) / rate,
        count: u32::try_from(time.as_secs()).unwrap() * rate,
        next: AtomicU32::default(),
    };
    let answers: Vec<Answers> = thread::scope(|scope| {
        let arrivals = &arrivals;
        let running: Vec<_> = companies
            .iter()
            .cycle()
            .take(CONNECTIONS)
            .map(|company| {
                let thread = thread::Builder::new().stack_size(STACK_BYTES);
                let connection = move || send(scene, company, arrivals);
                thread.spawn_scoped(scope, connection).unwrap()
            })
            .collect();
        running.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let elapsed = micros(arrivals.begun);
    let back_after_ms = back_after_ms(scene, arrivals.end(), capacity.percentile(99));
    let memory_mib = memory::peak_kib(server).saturating_sub(before) / 1024;
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    let (mut crowded, mut late) = (0, 0);
    for one in answers {
        accepted.extend(one.accepted);
        refused.extend(one.refused);
        crowded += one.crowded;
        late += one.late;
    }
    refused.sort_unstable();
    Overload {
        accepted: Done::of(accepted, elapsed),
        refused,
        crowded,
        late,
        memory_mib,
        back_after_ms,
    }
}

/// Creates that are due at a fixed rate, whatever becomes of those before.
struct Arrivals {
    begun: Instant,
    step: Duration,
    count: u32,
    next: AtomicU32,
}

impl Arrivals {
    /// When the last one was due.
    fn end(&self) -> Instant {
        self.begun + self.step * self.count
    }

    /// The time of the next one, since the beginning; `None` after the last.
    fn next(&self) -> Option<Duration> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.count).then(|| self.step * number)
    }
}

#[derive(Default)]
struct Answers {
    /// How long each took, and when it came.
    accepted: Vec<(u64, u64)>,
    refused: Vec<u64>,
    crowded: u64,
    late: u64,
}

/// Sends whatever is due next on a connection of its own. The time of an answer is that since its
/// request was due.
fn send(scene: &Scene, company: &Company, arrivals: &Arrivals) -> Answers {
    let mut connection = Connection::to(scene.address(0));
    let mut answers = Answers::default();
    while let Some(due) = arrivals.next() {
        thread::sleep(due.saturating_sub(arrivals.begun.elapsed()));
        let late = arrivals.begun.elapsed().saturating_sub(due);
        answers.late += u64::from(late > LATE);
        let answer = connection.exchange(&company.create(next_invoice(), 0));
        let took = answer.took + u64::try_from(late.as_micros()).unwrap();
        match answer.status() {
            Some(ACCEPTED) => answers.accepted.push((took, micros(arrivals.begun))),
            other => {
                let is_for_now = is_for_now(&answer);
                assert!(is_for_now, "neither created nor refused for now: {other:?}");
                answers.crowded += u64::from(other == Some(CROWDED));
                answers.refused.push(took);
            }
        }
    }
    answers
}

/// Sends one create after the other; returns how long after the end the first of those came that are as quick as at
/// capacity.
fn back_after_ms(scene: &Scene, ended: Instant, most_us: u64) -> u64 {
    let mut connection = Connection::to(scene.address(0));
    let (mut back, mut quick) = (micros(ended) / 1000, 0);
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
