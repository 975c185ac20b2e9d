//! The cost of creating and delivering, together and each alone, and the number of events sent per second.

use crate::clients;
use crate::connection::{micros, now};
use crate::cpu::{self, Spent};
use crate::run::Run;
use crate::stage::Stage;
use crate::table::Table;
use crate::table::Target::{AtLeast, AtMost};

const CLIENTS: usize = 16;

/// Events, and what they took.
struct Sent {
    events: u64,
    rate: u64,
    spent: Spent,
}

pub(crate) fn run(run: &Run, table: &mut Table) {
    let stage = Stage::new(run);
    together(&stage, run);
    run.alternate(
        || together(&stage, run),
        || apart(&stage, run),
        |both, (created, delivered)| {
            let each = |sent: &Sent| sent.spent.each(sent.events);
            let costs = (each(&both), each(&created) + each(&delivered));
            let what = "create and deliver";
            let beside = "create alone + deliver what waits";
            table.ratio(
                &format!("{what}: CPU time"),
                beside,
                AtMost(115),
                " us",
                costs,
            );
            table.figure(
                &format!("{what}: CPU time of one"),
                AtMost(750),
                " us",
                costs.0,
            );
            table.figure(&format!("{what}: rate"), AtLeast(2200), "/s", both.rate);
            let what = "deliver what waits";
            let cost = each(&delivered);
            table.figure(&format!("{what}: CPU time"), AtMost(250), " us", cost);
            table.figure(
                &format!("{what}: rate"),
                AtLeast(1800),
                "/s",
                delivered.rate,
            );
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
