//! A healthy receiver, first alone, then while 512 endpoints of other companies begin to hang at once.

use std::thread;
use std::time::Duration;

use crate::receiver::Receiver;
use crate::run::Run;
use crate::stage::Stage;
use crate::statistics::percentile;
use crate::table::Table;
use crate::table::Target::AtMost;
use crate::{company, paced};

const ENDPOINTS: u64 = 512;
/// The number of the first company that hangs.
const FIRST: u64 = 20_000_000;
/// Deliveries to each of them, which are due at the moment when they begin to hang.
const DELIVERIES_EACH: u32 = 4;
const PER_SECOND: u32 = 100;
/// Longer than an attempt.
const HANGS: Duration = Duration::from_secs(13);

/// The endpoints of the crowd.
const CROWD: &str =
    "endpoint_id IN (SELECT e.id FROM endpoints e JOIN companies c ON c.id = e.head_office_id
     WHERE c.name LIKE 'Hanging %')";

pub(crate) fn run(run: &Run, table: &mut Table) {
    let stage = Stage::new(run);
    let hanging = Receiver::start(HANGS);
    let platform = stage.scene.platform();
    let endpoints = run.size(ENDPOINTS, 8);
    for number in FIRST..FIRST + endpoints {
        let company = company::register(
            platform,
            number,
            &format!("Hanging {number}"),
            "CONSTRUCTION",
        );
        stage.register_endpoint(&company, &hanging);
    }
    let measured = |time| paced::run(&stage.scene, &stage.payers, PER_SECOND, time);
    measured(run.warm_up());
    run.alternate(
        || measured(run.time()),
        || {
            begin_to_hang(&stage);
            let latencies = measured(run.time());
            calm(&stage, run);
            latencies
        },
        |alone, beside| {
            let what = format!(
                "healthy endpoint beside {endpoints} that begin to hang, {PER_SECOND} a second: p99"
            );
            let p99s = (percentile(&beside.whole, 99), percentile(&alone.whole, 99));
            table.ratio(&what, "alone", AtMost(120), " us", p99s);
            // The rest is the create's own time, and the disk's.
            let p99 = percentile(&beside.after_answer, 99);
            let what = format!("{what} after the create's answer");
            table.figure(&what, AtMost(20_000), " us", p99);
        },
    );
}

/// Queues deliveries for all of them, due now.
fn begin_to_hang(stage: &Stage) {
    stage.scene.cluster().sql(&format!(
        "WITH clock (ms) AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT),
         made AS (
             INSERT INTO events (id, head_office_id, type, at, actor, body)
             SELECT gen_random_uuid(), e.head_office_id, 'webhook.test', clock.ms, 'SYSTEM', '{{}}'
             FROM clock, generate_series(1, {DELIVERIES_EACH}), endpoints e
             JOIN companies c ON c.id = e.head_office_id WHERE c.name LIKE 'Hanging %'
             RETURNING id, head_office_id)
         INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
             next_attempt_at, created_at)
         SELECT gen_random_uuid(), m.head_office_id, e.id, m.id, 'webhook.test', 'PENDING', clock.ms,
                clock.ms
         FROM clock, made m JOIN endpoints e ON e.head_office_id = m.head_office_id"
    ));
}

/// Ends it: nothing is queued or under way, and nobody remembers.
fn calm(stage: &Stage, run: &Run) {
    stage.scene.cluster().sql(&format!(
        "UPDATE deliveries SET status = 'FAILED', ended_at = 1, next_attempt_at = NULL,
             leased_until = NULL
         WHERE status = 'PENDING' AND {CROWD}"
    ));
    if !run.is_short {
        thread::sleep(HANGS);
    }
    let remembered = "UPDATE endpoints SET is_slow = FALSE WHERE is_slow";
    stage.scene.cluster().sql(remembered);
}
