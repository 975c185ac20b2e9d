//! The pictures of `docs/benchmarks.md`: creates beside the number of clients, and creates and gets
//! beside the number of operations.

use std::fs;
use std::path::Path;

use crate::clients;
use crate::fill::fill;
use crate::get::Gets;
use crate::picture::{Panel, draw};
use crate::run::Run;
use crate::scene::Scene;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/plots");
const MAX_CLIENTS: u64 = 512;
const CLIENTS: usize = 64;
/// The numbers of operations grow tenfold.
const MIN_OPERATIONS: u64 = 10_000;

pub(crate) fn run(run: &Run) {
    let pictures = [
        ("clients", beside_clients(run)),
        ("operations", beside_operations(run)),
    ];
    for (name, panels) in pictures {
        let svg = draw(&panels, &run.conditions());
        if !run.is_short {
            fs::create_dir_all(FOLDER).unwrap();
            fs::write(Path::new(FOLDER).join(format!("{name}.svg")), svg).unwrap();
        }
    }
}

fn beside_clients(run: &Run) -> [Panel; 2] {
    let scene = Scene::postgres(run);
    clients::creates(&scene, CLIENTS, run.warm_up());
    let x = "clients, each sending one create after the other";
    let mut rate = Panel::new("creates per second", x, 2);
    let mut p99 = Panel::new("p99 of a create, us", x, 2);
    let max = run.size(MAX_CLIENTS, 4);
    let doubled = std::iter::successors(Some(1), |clients| Some(clients * 2));
    for clients in doubled.take_while(|clients| *clients <= max) {
        let done = clients::creates(&scene, usize::try_from(clients).unwrap(), run.time());
        println!(
            "{clients} clients: {} creates a second, p99 {} us",
            done.rate(),
            done.percentile(99)
        );
        rate.points.push((clients, done.rate()));
        p99.points.push((clients, done.percentile(99)));
    }
    [rate, p99]
}

fn beside_operations(run: &Run) -> [Panel; 2] {
    let scene = Scene::postgres(run);
    let x = "operations of the company";
    let mut create = Panel::new("p99 of a create, 64 clients, us", x, 10);
    let mut get = Panel::new("p99 of a get, 64 clients, us", x, 10);
    let min_operations = run.size(MIN_OPERATIONS, 100);
    let mut there = 0;
    let tenfold = std::iter::successors(Some(min_operations), |operations| Some(operations * 10));
    for operations in tenfold.take_while(|operations| *operations <= run.max_operations) {
        fill(&scene, operations - there);
        there = operations;
        let gets = Gets::of(&scene, run);
        // The pages that were just filled are not in memory.
        gets.run(&scene, run);
        let p99s = [
            clients::creates(&scene, CLIENTS, run.time()).percentile(99),
            gets.run(&scene, run).percentile(99),
        ];
        println!("{operations} operations: p99 of a create and of a get {p99s:?} us");
        for (panel, p99) in [&mut create, &mut get].into_iter().zip(p99s) {
            panel.points.push((operations, p99));
        }
    }
    [create, get]
}
