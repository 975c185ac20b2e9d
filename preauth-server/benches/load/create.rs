//! Creates: throughput, latency and cost beside pgbench, which writes the same rows.

use crate::baseline;
use crate::clients::{self, Done, next_invoice};
use crate::cpu::{self, Spent};
use crate::run::Run;
use crate::scene::Scene;
use crate::statistics::grouped;
use crate::table::Table;
use crate::table::Target::{AtLeast, AtMost, None};

const BASELINE_CLIENTS: usize = 64;
const MANY_ADDRESSES: u64 = 10_000;
const BESIDE: &str = "pgbench's one statement, 64 clients";

/// The load, and the figures that it must reach.
struct Load {
    clients: usize,
    /// Mail addresses that the offers go to in turn.
    addresses: u64,
    rate: u64,
    database_us: u64,
}

const LOADS: [Load; 3] = [
    Load {
        clients: 64,
        addresses: 1,
        rate: 230,
        database_us: 170,
    },
    Load {
        clients: 64,
        addresses: MANY_ADDRESSES,
        rate: 230,
        database_us: 170,
    },
    Load {
        clients: 256,
        addresses: 1,
        rate: 300,
        database_us: 150,
    },
];

pub(crate) fn run(run: &Run, table: &mut Table) {
    let scene = Scene::postgres(run);
    for load in &LOADS {
        clients::creates(&scene, load.clients, run.warm_up());
        run.alternate(
            || baseline::run(&scene, baseline::CREATE, BASELINE_CLIENTS, run.seconds),
            || cpu::of_creates(&scene, || load.send(&scene, run)),
            |theirs, (ours, spent)| {
                let their_us = theirs.spent.each(theirs.transactions);
                load.add(table, (theirs.rate, their_us), &ours, &spent);
            },
        );
    }
}

impl Load {
    fn send(&self, scene: &Scene, run: &Run) -> Done {
        // Each run has mailboxes of its own, which get so few mails that none is held for another day.
        let first = if self.addresses > 1 {
            next_invoice()
        } else {
            0
        };
        let create = || {
            let invoice = next_invoice();
            scene
                .payer
                .create(invoice, first + invoice % self.addresses)
        };
        clients::run(scene, self.clients, run.time(), "201", &create)
    }

    fn add(&self, table: &mut Table, (rate, cost): (u64, u64), ours: &Done, spent: &Spent) {
        let count = ours.count();
        let mails = match self.addresses {
            1 => String::new(),
            many => format!(", {} mail addresses", grouped(many)),
        };
        let what = |figure: &str| format!("create, {} clients{mails}: {figure}", self.clients);
        table.ratio(
            &what("rate"),
            BESIDE,
            AtLeast(self.rate),
            "/s",
            (ours.rate(), rate),
        );
        table.ratio(
            &what("CPU time"),
            BESIDE,
            None,
            " us",
            (spent.each(count), cost),
        );
        let database = spent.database_each(count);
        table.figure(
            &what("CPU time of the database"),
            AtMost(self.database_us),
            " us",
            database,
        );
        if self.clients == BASELINE_CLIENTS {
            let latencies = (ours.percentile(99), ours.percentile(50));
            table.ratio(&what("p99"), "p50", AtMost(250), " us", latencies);
        }
    }
}
