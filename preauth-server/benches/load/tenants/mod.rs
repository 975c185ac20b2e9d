//! A quiet company beside one that floods the service, and beside many that together ask for as
//! much.

mod companies;
mod traffic;

use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::receiver::Receiver;
use crate::server::{self, Server};
use companies::Company;
use traffic::{Load, Quiet};

/// Duration of each run.
pub(crate) const SECONDS: u64 = 6;
/// Clients of the load; each sends one request after the other.
const CLIENTS: usize = 64;
const COMPANIES: usize = 32;
const WARM_UP: Duration = Duration::from_secs(2);
const PAIRS: usize = 5;
/// 100%: the p99 beside many companies in percent of the p99 beside one.
const WHOLE: u64 = 100;
/// Maximum p99 beside one company, in percent of the p99 beside many.
const TARGET: u64 = 200;

/// The addresses that requests are sent to.
struct Scene {
    server: Server,
    receiver: Receiver,
    quiet: Company,
    flooding: Company,
    many: Vec<Company>,
    first_invoice: u64,
    _folder: TempDir,
    /// Declared after the server: it stops last.
    _cluster: Option<Cluster>,
}

pub(crate) fn run(seconds: u64) {
    let time = Duration::from_secs(seconds);
    println!(
        "{CLIENTS} clients of one company, or of {COMPANIES}; a quiet company's p50 and p99 in us"
    );
    println!(
        "{:<12}{:<12}{:>20}{:>10}{:>20}{:>10}{:>8}{:>8}",
        "database", "what", "beside many", "a second", "beside one", "a second", "of p99", "target"
    );
    for database in ["sqlite", "postgresql"] {
        let scene = Scene::new(database);
        for load in [Load::Creates, Load::Lists] {
            compare(&scene, database, load, time);
        }
    }
}

/// Alternates the load of many and of one, so that a change in the machine affects both.
fn compare(scene: &Scene, database: &str, load: Load, time: Duration) {
    let beside_many = || scene.run(&scene.many, load, time);
    let beside_one = || scene.run(std::slice::from_ref(&scene.flooding), load, time);
    scene.run(&scene.many, load, WARM_UP);
    let (mut many, mut one) = (Quiet::default(), Quiet::default());
    for pair in 0..PAIRS {
        if pair % 2 == 0 {
            many.add(beside_many());
            one.add(beside_one());
        } else {
            one.add(beside_one());
            many.add(beside_many());
        }
    }
    let (rate_of_many, rate_of_one) = (many.rate(time), one.rate(time));
    for (what, many, one) in many.in_pairs(one) {
        if many.is_empty() {
            continue;
        }
        let scaled = percentile(&one, 99).saturating_mul(WHOLE);
        let ratio = scaled
            .checked_div(percentile(&many, 99))
            .unwrap_or_default();
        println!(
            "{database:<12}{what:<12}{:>20}{:>10}{:>20}{:>10}{:>8}{:>8}",
            shown(&many),
            rate_of_many,
            shown(&one),
            rate_of_one,
            hundredths(ratio),
            hundredths(TARGET)
        );
    }
}

impl Scene {
    fn new(database: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let cluster = (database == "postgresql").then(Cluster::start);
        let url = cluster.as_ref().map_or_else(
            || format!("sqlite://{}/preauth.db", folder.path().display()),
            |cluster| cluster.url.clone(),
        );
        server::migrate(&url, folder.path());
        let server = Server::start(&url, folder.path());
        let receiver = Receiver::start(Duration::ZERO);
        companies::register_supplier(&server.platform);
        let company = |number| Company::register(&server.platform, number, &receiver);
        Self {
            quiet: company(1),
            flooding: company(2),
            many: (3..).take(COMPANIES).map(company).collect(),
            first_invoice: traffic::next_invoice(),
            server,
            receiver,
            _folder: folder,
            _cluster: cluster,
        }
    }

    /// The quiet company's requests beside the load of these companies.
    fn run(&self, companies: &[Company], load: Load, time: Duration) -> Quiet {
        let begun = crate::clients::now();
        thread::scope(|scope| {
            let clients: Vec<_> = companies
                .iter()
                .cycle()
                .take(CLIENTS)
                .map(|company| {
                    scope.spawn(move || traffic::flood(&self.server, company, load, begun, time))
                })
                .collect();
            let mut quiet = traffic::pace(&self.server, &self.quiet, load, begun, time);
            for client in clients {
                quiet.beside = quiet.beside.saturating_add(client.join().unwrap());
            }
            if load == Load::Creates {
                quiet.arrive(&self.receiver, self.first_invoice);
            }
            quiet
        })
    }
}

fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let place = sorted.len().saturating_mul(percent) / 100;
    sorted.get(place).copied().unwrap_or_default()
}

fn shown(sorted: &[u64]) -> String {
    format!("{} {}", percentile(sorted, 50), percentile(sorted, 99))
}

fn hundredths(ratio: u64) -> String {
    format!("{}.{:02}", ratio / WHOLE, ratio % WHOLE)
}
