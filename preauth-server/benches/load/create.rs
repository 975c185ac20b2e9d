//! Creates: throughput, latency and cost.

use std::time::Duration;

use crate::scene::Scene;
use crate::{baseline, clients, cpu};

/// Duration of each measurement.
pub(crate) const SECONDS: u64 = 10;
/// Concurrent clients.
const CLIENTS: [usize; 3] = [1, 64, 256];
const BASELINE_CLIENTS: usize = 64;
/// Statements are prepared and connections opened before the measurement.
const WARM_UP: Duration = Duration::from_secs(2);

pub(crate) fn run(seconds: u64) {
    let scene = Scene::new(1);
    let database = scene.cluster.process;
    let server = scene.servers.first().unwrap().process();
    let heads = ["per s", "p50 us", "p99 us", "CPU us", "database"];
    println!("{:<34}{}", "clients, what", row(&heads.map(str::to_owned)));
    for (name, script) in baseline::ALL {
        let before = cpu::of(&[database]);
        let done = baseline::run(&scene, script, BASELINE_CLIENTS, seconds);
        let spent = cpu::of(&[database]).saturating_sub(before);
        let each = spent.checked_div(done.transactions).unwrap_or_default();
        let figures = [Some(done.rate), None, None, Some(each), Some(each)];
        print_row(BASELINE_CLIENTS, &format!("pgbench, {name}"), figures);
    }
    for count in CLIENTS {
        clients::run(&scene, count, WARM_UP);
        let before = [database, server].map(|process| cpu::of(&[process]));
        let done = clients::run(&scene, count, Duration::from_secs(seconds));
        let after = [database, server].map(|process| cpu::of(&[process]));
        let [of_database, of_server] = [0, 1].map(|n| {
            let spent = after
                .get(n)
                .zip(before.get(n))
                .map(|(after, before)| after.saturating_sub(*before));
            spent
                .and_then(|spent| spent.checked_div(done.count()))
                .unwrap_or_default()
        });
        let figures = [
            done.rate(),
            done.percentile(50),
            done.percentile(99),
            of_database.saturating_add(of_server),
            of_database,
        ];
        print_row(count, "create over HTTP", figures.map(Some));
    }
}

fn print_row(clients: usize, what: &str, figures: [Option<u64>; 5]) {
    let figures = figures.map(|it| it.map_or_else(String::new, |it| it.to_string()));
    println!("{:<34}{}", format!("{clients}, {what}"), row(&figures));
}

fn row(cells: &[String]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| format!(" {cell:>9}")).collect();
    cells.concat()
}
