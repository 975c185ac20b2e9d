//! A quiet company beside one that floods the service, and beside many that together ask for as
//! much.

use std::thread;
use std::time::Duration;

use crate::company::{self, Company};
use crate::connection::now;
use crate::quiet::{self, Load, Quiet};
use crate::receiver::Receiver;
use crate::run::Run;
use crate::scene::Scene;
use crate::server::Disk;
use crate::statistics::percentile;
use crate::table::Table;
use crate::table::Target::AtMost;

/// Clients of the load; each sends one request after the other.
const CLIENTS: u64 = 64;
const COMPANIES: u64 = 32;

/// The companies that send requests.
struct Tenants {
    scene: Scene,
    receiver: Receiver,
    clients: usize,
    quiet: Company,
    flooding: Company,
    many: Vec<Company>,
}

pub(crate) fn run(run: &Run, table: &mut Table) {
    for database in ["SQLite", "PostgreSQL"] {
        let scene = match database {
            "SQLite" => Scene::sqlite(Disk::Own),
            _ => Scene::postgres(run),
        };
        let tenants = Tenants::on(scene, run);
        for load in [Load::Creates, Load::Lists] {
            tenants.compare(database, load, run, table);
        }
    }
}

impl Tenants {
    fn on(scene: Scene, run: &Run) -> Self {
        let receiver = Receiver::start(Duration::ZERO);
        let company = |number| {
            let company = Company::register(scene.platform(), number);
            company::register_endpoint(scene.platform(), &company.id, &receiver.url());
            company
        };
        Self {
            clients: usize::try_from(run.size(CLIENTS, 8)).unwrap(),
            quiet: company(2),
            flooding: company(3),
            many: (4..4 + run.size(COMPANIES, 2)).map(company).collect(),
            scene,
            receiver,
        }
    }

    fn compare(&self, database: &str, load: Load, run: &Run, table: &mut Table) {
        self.run(&self.many, load, run.warm_up());
        run.alternate(
            || self.run(&self.many, load, run.time()),
            || self.run(std::slice::from_ref(&self.flooding), load, run.time()),
            |many, one| {
                let figures = many.figures.into_iter().zip(one.figures);
                for ((what, many), (_, one)) in figures {
                    let what = format!(
                        "a quiet company's {what}, beside 64 clients of one, {database}: p99"
                    );
                    let p99s = (percentile(&one, 99), percentile(&many, 99));
                    table.ratio(&what, "beside as many of 32", AtMost(200), " us", p99s);
                }
            },
        );
    }

    /// The quiet company's requests beside the load of these companies.
    fn run(&self, companies: &[Company], load: Load, time: Duration) -> Quiet {
        let begun = now();
        let address = self.scene.address(0);
        let received = self.receiver.count();
        thread::scope(|scope| {
            let clients: Vec<_> = companies
                .iter()
                .cycle()
                .take(self.clients)
                .map(|company| {
                    scope.spawn(move || quiet::flood(address, company, load, begun, time))
                })
                .collect();
            let paced = quiet::pace(address, &self.quiet, load, begun, time);
            let flooded: usize = clients.into_iter().map(|it| it.join().unwrap()).sum();
            paced.arrived(&self.receiver, received + flooded)
        })
    }
}
