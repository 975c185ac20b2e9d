//! The cost of creating and delivering, together and each alone, and the number of events sent per
//! second, on both databases.

use crate::clients;
use crate::connection::{micros, now};
use crate::cpu::{self, Spent};
use crate::run::Run;
use crate::stage::Stage;
use crate::table::Table;
use crate::table::Target::{self, AtLeast, AtMost};

const CLIENTS: usize = 64;

/// Events, and what they took.
struct Sent {
    events: u64,
    rate: u64,
    spent: Spent,
}

pub(crate) fn run(run: &Run, table: &mut Table) {
    let targets = [AtMost(750), AtLeast(2200), AtMost(250), AtLeast(1800)];
    compare(&Stage::new(run), run, table, "", targets);
    // The targets are set for PostgreSQL, but for that of the ratio.
    compare(&Stage::sqlite(), run, table, ", SQLite", [Target::None; 4]);
}

/// The targets are those of the cost and the rate of both together, and of deliveries alone.
fn compare(stage: &Stage, run: &Run, table: &mut Table, database: &str, targets: [Target; 4]) {
    let [cost_of_one, rate, cost_of_delivery, rate_of_delivery] = targets;
    together(stage, run);
    run.alternate(
        || together(stage, run),
        || apart(stage, run),
        |both, (created, delivered)| {
            let each = |sent: &Sent| sent.spent.each(sent.events);
            let costs = (each(&both), each(&created) + each(&delivered));
            let what = |what: &str| format!("create, 64 clients, and deliver{database}: {what}");
            let cost = what("CPU time");
            let beside = "create alone + deliver what waits";
            table.ratio(&cost, beside, AtMost(115), " us", costs);
            table.figure(&what("CPU time of one"), cost_of_one, " us", costs.0);
            table.figure(&what("rate"), rate, "/s", both.rate);
            let what = |what: &str| format!("deliver what waits{database}: {what}");
            let cost = each(&delivered);
            table.figure(&what("CPU time"), cost_of_delivery, " us", cost);
            table.figure(&what("rate"), rate_of_delivery, "/s", delivered.rate);
        },
    );
}

/// Creates until the time is over, and waits until all events have arrived.
fn together(stage: &Stage, run: &Run) -> Sent {
    measured(stage, || {
        let received = stage.payers.count();
        let created = clients::creates(&stage.scene, CLIENTS, run.time()).count();
        stage.payers.wait_for(received + size(created));
        created
    })
}

/// Creates until the time is over, and then has the events delivered.
fn apart(stage: &Stage, run: &Run) -> (Sent, Sent) {
    stage.pause(true);
    let received = stage.payers.count();
    let created = measured(stage, || {
        clients::creates(&stage.scene, CLIENTS, run.time()).count()
    });
    let waiting = created.events;
    let delivered = measured(stage, || {
        stage.pause(false);
        stage.payers.wait_for(received + size(waiting));
        waiting
    });
    (created, delivered)
}

fn measured(stage: &Stage, work: impl FnOnce() -> u64) -> Sent {
    let begun = now();
    let (events, spent) = cpu::during(&stage.scene, work);
    Sent {
        events,
        rate: events * 1_000_000 / micros(begun),
        spent,
    }
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap()
}
