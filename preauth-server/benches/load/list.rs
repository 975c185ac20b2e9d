//! Lists: the pages of a company with few operations, and of the same company with many.

use std::io::{BufReader, Write};
use std::net::TcpStream;

use crate::clients::{self, now};
use crate::scene::Scene;

/// Number of operations at the end.
pub(crate) const OPERATIONS: u64 = 1_000_000;
const FEW: u64 = 10_000;
/// Operations per page.
const LIMIT: u64 = 20;
/// One operation in 5,000 has the rare status.
const RARE: u64 = 5_000;
/// Requests per figure, after as many warm-up requests.
const ROUNDS: usize = 60;

pub(crate) fn run(operations: u64) {
    let scene = Scene::new(1);
    println!("{:<44} {:>9} {:>9}", "operations, page", "p50 us", "p99 us");
    let mut there = 0;
    for all in [FEW, operations] {
        fill(&scene, there, all);
        there = all;
        let pages = all.div_ceil(LIMIT);
        for (name, query) in [
            ("first", "page=1".to_owned()),
            ("first, one status", "page=1&status=IN_PRE_AUTH".to_owned()),
            (
                "first, two statuses",
                "page=1&status=IN_PRE_AUTH&status=REPROVED".to_owned(),
            ),
            ("first, a rare status", "page=1&status=TO_PAY".to_owned()),
            ("middle", format!("page={}", pages.div_ceil(2))),
            ("last", format!("page={pages}")),
        ] {
            let micros = measured(&scene, &format!("limit={LIMIT}&{query}"), all);
            let at = |percent: usize| {
                let place = micros.len().saturating_mul(percent) / 100;
                micros.get(place).copied().unwrap_or_default()
            };
            let what = format!("{all}, {name}");
            println!("{what:<44} {:>9} {:>9}", at(50), at(99));
        }
        let what = format!("{all}, count(*) without us");
        println!("{what:<44} {:>9}", counting(&scene));
    }
}

/// The time of each request in microseconds, sorted.
fn measured(scene: &Scene, query: &str, all: u64) -> Vec<u64> {
    let stream = TcpStream::connect(scene.address(0)).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut requests = stream;
    let request = scene.list(query);
    let mut micros: Vec<u64> = (0..ROUNDS.saturating_mul(2))
        .map(|_| {
            let sent = now();
            requests.write_all(request.as_bytes()).unwrap();
            let body = clients::receive(&mut answers, "HTTP/1.1 200");
            let took = sent.elapsed();
            let total: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let total = total.pointer("/pagination/total").unwrap().as_u64();
            assert!(query.contains("status") || total == Some(all), "{total:?}");
            u64::try_from(took.as_micros()).unwrap()
        })
        .skip(ROUNDS)
        .collect();
    micros.sort_unstable();
    micros
}

/// Adds operations until there are `all`. The schema's checks take most of the time, so they are
/// switched off; the counting triggers are off with them, so the counts are written here.
fn fill(scene: &Scene, there: u64, all: u64) {
    let id = |name| scene.id(name);
    let (payer, supplier, cnpj) = (id("payer"), id("supplier"), id("cnpj"));
    let first = there.saturating_add(1);
    scene.cluster.sql(&format!(
        "SET session_replication_role = replica;
         INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
             origin, status, amount_cents, withheld_tax_cents, due_date, invoice_number,
             expires_at, created_at, closing_action)
         SELECT n, '{payer}', '{payer}', '{supplier}', '{cnpj}', 1, 'PRE_AUTH', status, 100000, 0,
             '2027-01-31', 'L-' || n, 4000000000000, 1,
             CASE WHEN status = 'REPROVED' THEN 'CANCEL' END
         FROM (SELECT n, CASE WHEN n % {RARE} = 0 THEN 'TO_PAY' WHEN n % 3 = 0 THEN 'REPROVED'
                         ELSE 'IN_PRE_AUTH' END AS status
               FROM generate_series({first}, {all}) AS n) AS numbered;
         DELETE FROM operation_counts;
         INSERT INTO operation_counts (head_office_id, payer_id, status, slot, count)
         SELECT head_office_id, payer_id, status, 0, count(*) FROM operations
         GROUP BY head_office_id, payer_id, status;"
    ));
    scene.cluster.sql("VACUUM ANALYZE operations");
}

/// The time the database takes to count the company's operations, in microseconds.
fn counting(scene: &Scene) -> u64 {
    let payer = scene.id("payer");
    let plan = scene.cluster.sql(&format!(
        "EXPLAIN (ANALYZE, TIMING OFF)
         SELECT count(*) FROM operations WHERE head_office_id = '{payer}'"
    ));
    let (_, time) = plan.split_once("Execution Time: ").unwrap();
    let digits: String = time.chars().filter(char::is_ascii_digit).collect();
    // PostgreSQL prints milliseconds with three decimals.
    digits.parse().unwrap()
}
