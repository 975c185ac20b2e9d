//! Gets by id: PostgreSQL beside pgbench doing the same work, SQLite beside an answer without a look-up.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::baseline;
use crate::clients::{self, Done};
use crate::connection::Connection;
use crate::run::Run;
use crate::scene::Scene;
use crate::server::Disk;
use crate::table::Table;
use crate::table::Target::{self, AtLeast};

const CLIENTS: usize = 64;
/// Pages of the list whose operations are asked for in turn.
const PAGES: u64 = 10;
/// Answered by 404 before any look-up. Requests without a key are limited.
const NOWHERE: &str = "GET /nowhere HTTP/1.1\r\nHost: bench\r\n\r\n";

/// Requests for operations that exist.
pub(crate) struct Gets {
    requests: Vec<String>,
    next: AtomicUsize,
}

pub(crate) fn run(run: &Run, table: &mut Table) {
    let scene = Scene::postgres(run);
    let gets = Gets::of(&scene, run);
    gets.run(&scene, run);
    run.alternate(
        || baseline::run(&scene, baseline::GET, CLIENTS, run.seconds),
        || gets.run(&scene, run),
        |theirs, ours| {
            let rates = (ours.rate(), theirs.rate);
            table.ratio(
                "get, 64 clients, PostgreSQL: rate",
                "pgbench's key with window, and row",
                AtLeast(120),
                "/s",
                rates,
            );
        },
    );
    let script = apart(&scene);
    run.alternate(
        || baseline::run_not_durable(&scene, &script, CLIENTS, run.seconds),
        || gets.run(&scene, run),
        |theirs, ours| {
            let rates = (ours.rate(), theirs.rate);
            table.ratio(
                "get, 64 clients, PostgreSQL: rate beside clients that wait for nobody",
                "pgbench's, each with a window of its own, no wait for the disk",
                Target::None,
                "/s",
                rates,
            );
        },
    );
    drop(scene);
    let scene = Scene::sqlite(Disk::Own);
    let gets = Gets::of(&scene, run);
    gets.run(&scene, run);
    run.alternate(
        || clients::run(&scene, CLIENTS, run.time(), "404", &|| NOWHERE.to_owned()),
        || gets.run(&scene, run),
        |bare, ours| {
            let rates = (ours.rate(), bare.rate());
            let what = "get, 64 clients, SQLite";
            table.figure(&format!("{what}: rate"), AtLeast(20_000), "/s", ours.rate());
            table.ratio(what, "404 without a look-up", AtLeast(22), "/s", rates);
        },
    );
}

/// pgbench's script with a rate window for each client.
fn apart(scene: &Scene) -> String {
    let script = fs::read_to_string(baseline::GET).unwrap();
    let own_window = script.replace(
        "SELECT company_id, 0,",
        "SELECT company_id, 1 + :client_id,",
    );
    assert_ne!(own_window, script);
    let path = scene.folder().join("get_apart.sql");
    fs::write(&path, own_window).unwrap();
    path.to_str().unwrap().to_owned()
}

impl Gets {
    /// Requests for operations that are created here.
    pub(crate) fn of(scene: &Scene, run: &Run) -> Self {
        clients::creates(scene, CLIENTS, run.warm_up());
        let mut connection = Connection::to(scene.address(0));
        let mut requests = Vec::new();
        for page in 1..=PAGES {
            let query = format!("?limit=100&page={page}");
            let (_, body) = connection.send(&scene.payer.get(&query), "200");
            let body: Value = serde_json::from_slice(&body).unwrap();
            let items = body.get("data").and_then(Value::as_array).unwrap();
            let ids = items.iter().map(|item| item.get("id").unwrap());
            requests.extend(ids.map(|id| scene.payer.get(&format!("/{id}"))));
        }
        Self {
            requests,
            next: AtomicUsize::default(),
        }
    }

    pub(crate) fn run(&self, scene: &Scene, run: &Run) -> Done {
        clients::run(scene, CLIENTS, run.time(), "200", &|| self.request())
    }

    fn request(&self) -> String {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let place = turn % self.requests.len();
        self.requests.get(place).cloned().unwrap_or_default()
    }
}
