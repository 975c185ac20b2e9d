//! What more processors give PostgreSQL: creates, and pgbench's, with the database on half of the processors and on all
//! of them. Instance and clients always have the other half.

use crate::baseline;
use crate::clients;
use crate::cpu;
use crate::processors::{Processors, Share};
use crate::run::Run;
use crate::scene::Scene;
use crate::table::Table;
use crate::table::Target::None;

const CLIENTS: [usize; 2] = [64, 256];
const BASELINE_CLIENTS: usize = 64;
const BESIDE: &str = "on half of them";

pub(crate) fn run(run: &Run, table: &mut Table) {
    let processors = Processors::halved();
    processors.use_for_new(Share::SecondHalf);
    let scene = Scene::postgres(run);
    let database = scene.database_process().unwrap();
    let on = |share| processors.give(database, share);
    for clients in CLIENTS {
        on(Share::All);
        clients::creates(&scene, clients, run.warm_up());
        let creates = |share| {
            on(share);
            cpu::during(&scene, || clients::creates(&scene, clients, run.time()))
        };
        run.alternate(
            || creates(Share::FirstHalf),
            || creates(Share::All),
            |half, all| {
                let what = |figure: &str| {
                    format!("create, {clients} clients, database on all processors: {figure}")
                };
                let rates = (all.0.rate(), half.0.rate());
                table.ratio(&what("rate"), BESIDE, None, "/s", rates);
                let cost =
                    |(done, spent): &(clients::Done, cpu::Spent)| spent.database_each(done.count());
                let costs = (cost(&all), cost(&half));
                let title = what("CPU time of the database");
                table.ratio(&title, BESIDE, None, " us", costs);
            },
        );
    }
    let theirs = |share| {
        on(share);
        baseline::run(&scene, baseline::CREATE, BASELINE_CLIENTS, run.seconds)
    };
    run.alternate(
        || theirs(Share::FirstHalf),
        || theirs(Share::All),
        |half, all| {
            let what = "pgbench's one statement, 64 clients, database on all processors: rate";
            table.ratio(what, BESIDE, None, "/s", (all.rate, half.rate));
        },
    );
}
