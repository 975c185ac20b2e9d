//! Offers that all fall due together, expired by two instances while creates go on.

use std::thread;
use std::time::{Duration, Instant};

use crate::clients;
use crate::scene::Scene;

/// Number of offers that fall due.
pub(crate) const OFFERS: u64 = 100_000;
const INSTANCES: usize = 2;
const CLIENTS: usize = 16;
/// Duration of the creates alone; beside the expiries it is the minimum.
const BESIDE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_mins(5);

/// One transaction per 5,000 offers, without any of our code.
const BARE: &str = include_str!("expire.sql");

pub(crate) fn run(offers: u64) {
    let mut scene = Scene::new(1);
    let alone = clients::run(&scene, CLIENTS, BESIDE);
    print_row("creates alone", &alone);
    scene.servers.clear();
    fall_due(&scene, offers);
    let begun = clients::now();
    scene.cluster.sql(BARE);
    println!(
        "{offers} expiries by bare statements: {} ms",
        begun.elapsed().as_millis()
    );
    scene.start(INSTANCES);
    let (beside, millis) = thread::scope(|scope| {
        let creates = scope.spawn(|| clients::run(&scene, CLIENTS, BESIDE));
        fall_due(&scene, offers);
        let millis = until_recorded(&scene);
        (creates.join().unwrap(), millis)
    });
    println!("{offers} expiries by {INSTANCES} instances, creates beside them: {millis} ms");
    print_row("creates beside the expiries", &beside);
    let recorded = scene.cluster.sql(
        "SELECT count(*) = count(DISTINCT e.operation_id) AND count(*) = count(d.id)
         FROM events e LEFT JOIN deliveries d ON d.event_id = e.id
         WHERE e.type = 'pre_authorization.expired'",
    );
    assert_eq!(
        recorded, "t",
        "an expiry has other than one event and one delivery"
    );
}

fn print_row(what: &str, done: &clients::Done) {
    let (rate, p50, p99) = (done.rate(), done.percentile(50), done.percentile(99));
    println!("{what}: {rate} per s, p50 {p50} us, p99 {p99} us");
}

/// Creates offers whose time has passed; they become visible together.
fn fall_due(scene: &Scene, offers: u64) {
    let id = |name| scene.id(name);
    let (payer, supplier, cnpj) = (id("payer"), id("supplier"), id("cnpj"));
    scene.cluster.sql(&format!(
        "WITH o AS (
             INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj,
                 version, origin, status, amount_cents, withheld_tax_cents, due_date,
                 invoice_number, expires_at, created_at)
             SELECT id, '{payer}', '{payer}', '{supplier}', '{cnpj}', 1, 'PRE_AUTH',
                 'IN_PRE_AUTH', 100000, 0, '2027-01-31', 'D-' || id, 1, 1
             FROM (SELECT nextval('operation_ids') AS id FROM generate_series(1, {offers})) ids
             RETURNING id
         )
         INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, body)
         SELECT gen_random_uuid(), '{payer}', id, 1, 'pre_authorization.created', 1, 'PLATFORM',
             repeat('e', 600)
         FROM o"
    ));
}

/// Milliseconds until no offer is overdue.
fn until_recorded(scene: &Scene) -> u128 {
    let begun: Instant = clients::now();
    let overdue = "SELECT EXISTS (SELECT 1 FROM operations
                       WHERE status = 'IN_PRE_AUTH' AND expires_at = 1)";
    while scene.cluster.sql(overdue) == "t" {
        assert!(begun.elapsed() < PATIENCE, "the offers do not expire");
        thread::sleep(PAUSE);
    }
    begun.elapsed().as_millis()
}
