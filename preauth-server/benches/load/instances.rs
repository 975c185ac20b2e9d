//! Creates sent to one, two and four instances on one PostgreSQL: what an instance more costs the
//! database (see docs/scale.md).

use crate::clients::{self, Done};
use crate::cpu::{self, Spent};
use crate::run::Run;
use crate::scene::Scene;
use crate::table::Table;
use crate::table::Target::None;

const CLIENTS: usize = 128;
/// Numbers of instances that are compared with one.
const MORE: [usize; 2] = [2, 4];

pub(crate) fn run(run: &Run, table: &mut Table) {
    let mut scene = Scene::postgres(run);
    clients::creates(&scene, CLIENTS, run.warm_up());
    for instances in MORE {
        for pair in 0..run.pairs {
            // The order alternates, so that a change in the machine affects both.
            let (one, more) = if pair % 2 == 0 {
                let one = measured(&mut scene, run, 1);
                (one, measured(&mut scene, run, instances))
            } else {
                let more = measured(&mut scene, run, instances);
                (measured(&mut scene, run, 1), more)
            };
            add(table, instances, &one, &more);
        }
    }
}

fn measured(scene: &mut Scene, run: &Run, instances: usize) -> (Done, Spent) {
    scene.servers.truncate(1);
    scene.start(instances - 1);
    clients::creates(scene, CLIENTS, run.warm_up());
    cpu::during(scene, || clients::creates(scene, CLIENTS, run.time()))
}

fn add(table: &mut Table, instances: usize, one: &(Done, Spent), more: &(Done, Spent)) {
    let what = |figure: &str| format!("create, {CLIENTS} clients, {instances} instances: {figure}");
    let rates = (more.0.rate(), one.0.rate());
    table.ratio(&what("rate"), "one instance", None, "/s", rates);
    let database = |(done, spent): &(Done, Spent)| spent.database_each(done.count());
    table.ratio(
        &what("CPU time of the database"),
        "one instance",
        None,
        " us",
        (database(more), database(one)),
    );
}
