//! One client that sends one create after the other, beside pgbench's one statement with one client.

use crate::run::Run;
use crate::scene::Scene;
use crate::table::Table;
use crate::table::Target::AtMost;
use crate::{baseline, clients, cpu};

const BESIDE: &str = "pgbench's one statement, one client";

pub(crate) fn run(run: &Run, table: &mut Table) {
    let scene = Scene::postgres(run);
    clients::creates(&scene, 1, run.warm_up());
    run.alternate(
        || baseline::run(&scene, baseline::CREATE, 1, run.seconds),
        || cpu::of_creates(&scene, || clients::creates(&scene, 1, run.time())),
        |theirs, (ours, spent)| {
            let p50 = (ours.percentile(50), theirs.p50);
            let their_us = theirs.spent.each(theirs.transactions);
            let each = (spent.each(ours.count()), their_us);
            table.ratio("a lone create: p50", BESIDE, AtMost(120), " us", p50);
            table.ratio("a lone create: CPU time", BESIDE, AtMost(150), " us", each);
        },
    );
}
