//! Lists: the pages of a company with few operations, and of one with many.

use serde_json::Value;

use crate::connection::Connection;
use crate::fill::{fill, fill_sqlite};
use crate::run::Run;
use crate::scene::Scene;
use crate::server::Disk;
use crate::statistics::percentile;
use crate::table::Table;
use crate::table::Target::{self, AtMost, None};

const FEW: u64 = 10_000;
const MANY: u64 = 1_000_000;
/// Operations per page.
const LIMIT: u64 = 20;
/// Requests per figure, after as many warm-up requests.
const ROUNDS: u64 = 60;
/// Hardly more with many operations than with few.
const FLAT: Target = AtMost(150);
const MIDDLE_MAX_US: u64 = 100_000;
const QUERIES: [(&str, &str); 4] = [
    ("first page", ""),
    ("first page, one status", "&status=IN_PRE_AUTH"),
    (
        "first page, two statuses",
        "&status=IN_PRE_AUTH&status=REPROVED",
    ),
    ("first page, a rare status", "&status=TO_PAY"),
];

pub(crate) fn run(run: &Run, table: &mut Table) {
    let [few, many] = sizes(run);
    let filled = |operations| {
        let scene = Scene::postgres(run);
        fill(&scene, operations);
        scene
    };
    let both = (filled(few), filled(many));
    compare(run, table, "", &both, &QUERIES);
    for _ in 0..run.pairs {
        let what = "count(*) of 1,000,000 operations, which no list does";
        table.figure(what, None, " us", counting(&both.1));
    }
    drop(both);
    let filled = |operations| {
        let mut scene = Scene::sqlite(Disk::Own);
        fill_sqlite(&mut scene, operations);
        scene
    };
    let both = (filled(few), filled(many));
    let [first, ..] = QUERIES;
    compare(run, table, ", SQLite", &both, &[first]);
}

fn sizes(run: &Run) -> [u64; 2] {
    [run.size(FEW, 5000), run.size(MANY, 10_000)]
}

/// The pages that the queries ask for, the last and the middle one, in the scene with few operations
/// and in that with many.
fn compare(
    run: &Run,
    table: &mut Table,
    database: &str,
    (small, large): &(Scene, Scene),
    queries: &[(&str, &str)],
) {
    let [few, many] = sizes(run);
    let rounds = run.size(ROUNDS, 1);
    let page = |scene, query: &str| percentile(&measured(scene, query, rounds), 50);
    let last = |all: u64| all.div_ceil(LIMIT);
    let ending = |all| format!("&page={}", last(all));
    let mut compare = |name: &str, [of_few, of_many]: [&str; 2]| {
        run.alternate(
            || page(small, of_few),
            || page(large, of_many),
            |few, many| {
                let what = format!("list{database}, {name}: p50 with 1,000,000 operations");
                table.ratio(&what, "with 10,000", FLAT, " us", (many, few));
            },
        );
    };
    for (name, query) in queries {
        compare(name, [query; 2]);
    }
    compare("last page", [&ending(few), &ending(many)]);
    let middle = format!("&page={}", last(many).div_ceil(2));
    for _ in 0..run.pairs {
        let p99 = percentile(&measured(large, &middle, rounds), 99);
        let what = format!("list{database}, middle page of 1,000,000 operations: p99");
        table.figure(&what, AtMost(MIDDLE_MAX_US), " us", p99);
    }
}

/// The time of each request in microseconds, sorted.
fn measured(scene: &Scene, query: &str, rounds: u64) -> Vec<u64> {
    let mut connection = Connection::to(scene.address(0));
    let request = scene.payer.get(&format!("?limit={LIMIT}{query}"));
    let mut micros = Vec::new();
    for round in 0..rounds * 2 {
        let (took, body) = connection.send(&request, "200");
        let body: Value = serde_json::from_slice(&body).unwrap();
        let page = body.get("data").and_then(Value::as_array).unwrap();
        assert!(!page.is_empty(), "{query}");
        if round >= rounds {
            micros.push(took);
        }
    }
    micros.sort_unstable();
    micros
}

/// The time the database takes to count the company's operations, in microseconds.
fn counting(scene: &Scene) -> u64 {
    let payer = &scene.payer.id;
    let plan = scene.cluster().sql(&format!(
        "EXPLAIN (ANALYZE, TIMING OFF)
         SELECT count(*) FROM operations WHERE head_office_id = '{payer}'"
    ));
    let (_, time) = plan.split_once("Execution Time: ").unwrap();
    let digits: String = time.chars().filter(char::is_ascii_digit).collect();
    // PostgreSQL prints milliseconds with three decimals.
    digits.parse().unwrap()
}
