//! Offers that all fall due together, expired by two instances while creates go on.

use std::thread;
use std::time::Duration;

use crate::connection::{micros, now};
use crate::run::Run;
use crate::scene::{IS_NUMBERED, Scene};
use crate::table::Table;
use crate::table::Target::{AtMost, None};
use crate::{clients, company};

/// Number of offers that fall due.
const OFFERS: u64 = 100_000;
const INSTANCES: usize = 2;
const CLIENTS: usize = 16;
/// Duration of the creates beside the expiries.
const BESIDE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// One transaction per 5,000 offers, without any of our code.
const BARE: &str = include_str!("expire.sql");

/// Whether no offer is overdue.
const ARE_EXPIRED: &str = "SELECT NOT EXISTS (SELECT 1 FROM operations
    WHERE status = 'IN_PRE_AUTH' AND expires_at = 1)";
/// Whether those with numbers are counted for reports, which each instance does when it starts.
const IS_COUNTED: &str =
    "SELECT (SELECT max(upto) FROM activity_steps) >= max(number) FROM event_batches";

pub(crate) fn run(run: &Run, table: &mut Table) {
    let mut scene = Scene::postgres(run);
    let offers = run.size(OFFERS, 1000);
    let time = run.time().min(BESIDE);
    for _ in 0..run.pairs {
        scene.servers.clear();
        let bare = bare(&scene, offers);
        scene.start(INSTANCES);
        scene.wait_until(IS_COUNTED, PAUSE);
        let alone = clients::creates(&scene, CLIENTS, time);
        let (beside, expired) = thread::scope(|scope| {
            let creates = scope.spawn(|| clients::creates(&scene, CLIENTS, time));
            fall_due(&scene, offers);
            let expired = scene.wait_until(ARE_EXPIRED, PAUSE);
            (creates.join().unwrap(), expired)
        });
        scene.wait_until(IS_NUMBERED, PAUSE);
        let what = "100,000 offers fall due, two instances, creates beside them";
        let statements = "bare statements, nothing beside them";
        table.ratio(what, statements, None, " ms", (expired, bare));
        table.figure(&format!("{what}: time"), AtMost(10_000), " ms", expired);
        let what = "creates beside 100,000 expiries: rate";
        table.ratio(what, "alone", None, "/s", (beside.rate(), alone.rate()));
    }
    let recorded = scene.cluster().sql(
        "SELECT count(*) = count(DISTINCT e.operation_id) AND count(*) = count(d.id)
         FROM events e LEFT JOIN deliveries d ON d.event_id = e.id
         WHERE e.type = 'pre_authorization.expired'",
    );
    assert_eq!(
        recorded, "t",
        "an expiry has other than one event and one delivery"
    );
}

/// Milliseconds that the bare statements take.
fn bare(scene: &Scene, offers: u64) -> u64 {
    fall_due(scene, offers);
    let begun = now();
    scene.cluster().sql(BARE);
    micros(begun) / 1000
}

/// Creates offers whose time has passed; they become visible together. Their first events were numbered
/// long ago.
fn fall_due(scene: &Scene, offers: u64) {
    let (payer, supplier, cnpj) = (&scene.payer.id, &scene.supplier, company::supplier_cnpj());
    scene.cluster().sql(&format!(
        "WITH o AS (
             INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj,
                 version, origin, status, amount_cents, withheld_tax_cents, due_date,
                 invoice_number, expires_at, created_at)
             SELECT id, '{payer}', '{payer}', '{supplier}', '{cnpj}', 1, 'PRE_AUTH',
                 'IN_PRE_AUTH', 100000, 0, '2027-01-31', 'D-' || id, 1, 1
             FROM (SELECT nextval('operation_ids') AS id FROM generate_series(1, {offers})) ids
             RETURNING id
         )
         INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, body, xid)
         SELECT gen_random_uuid(), '{payer}', id, 1, 'pre_authorization.created', 1, 'PLATFORM',
             repeat('e', 600), NULL
         FROM o"
    ));
}
