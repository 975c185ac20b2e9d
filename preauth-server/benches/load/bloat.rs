//! As many creates whose events are delivered as an hour with 100 a second brings, in rounds: rows must
//! not take more room in the last round than in the second, nor the rate fall. From the second one on
//! the answers of the rounds before are removed meanwhile, as after their 24 hours.
//!
//! Automatic vacuums look once a second instead of once a minute, so that these minutes see as many of
//! them as an hour or more.

use std::thread;

use crate::clients;
use crate::connection::{micros, now};
use crate::run::Run;
use crate::stage::Stage;
use crate::table::Table;
use crate::table::Target::{AtLeast, AtMost};

const CLIENTS: usize = 16;
const ROUNDS: u64 = 6;
/// Creates in a round, at least.
const CREATES: u64 = 60_000;
/// Removes the answers that were there when it began, as many at a time as the janitor does.
const REMOVAL: &str = "DO $$ DECLARE
    newest bigint := (SELECT max(expires_at) FROM idempotency_replies);
    since bigint := 0;
BEGIN LOOP
    WITH gone AS (
        DELETE FROM idempotency_replies r
        USING (SELECT head_office_id, key FROM idempotency_replies
               WHERE expires_at >= since AND expires_at <= newest
               ORDER BY expires_at LIMIT 200) AS expired
        WHERE r.head_office_id = ANY (ARRAY[expired.head_office_id]) AND r.key = expired.key
        RETURNING r.expires_at
    )
    SELECT max(expires_at) INTO since FROM gone;
    EXIT WHEN since IS NULL;
    COMMIT;
END LOOP; END $$";
/// Tables whose rows stay for long, most of which are changed once or twice.
const GROWING: [&str; 6] = [
    "operations",
    "deliveries",
    "attempts",
    "notices",
    "events",
    "event_feed",
];
/// The table whose rows are removed.
const EMPTIED: &str = "idempotency_replies";
/// Tables of few rows that are changed all the time.
const SMALL: [&str; 3] = ["operation_counts", "rate_counts", "event_batches"];

/// A database after a round.
struct Round {
    rate: u64,
    /// Bytes of each growing table with its indexes, for each row.
    each: Vec<u64>,
    /// KiB of the table whose rows are removed.
    emptied: u64,
    /// KiB of each small table with its indexes.
    small: Vec<u64>,
}

pub(crate) fn run(run: &Run, table: &mut Table) {
    let stage = Stage::new(run);
    let cluster = stage.scene.cluster();
    cluster.sql("ALTER SYSTEM SET autovacuum_naptime = '1s'");
    cluster.sql("SELECT pg_reload_conf()");
    clients::creates(&stage.scene, CLIENTS, run.warm_up());
    create_round(&stage, run);
    let second = round(&stage, run);
    let mut last = round(&stage, run);
    for _ in 3..run.size(ROUNDS, 3) {
        last = round(&stage, run);
    }
    let beside = "in the second";
    let what = "create and deliver, round after round";
    let rates = (last.rate, second.rate);
    table.ratio(
        &format!("{what}: rate in the last"),
        beside,
        AtLeast(90),
        "/s",
        rates,
    );
    for ((name, last), second) in GROWING.iter().zip(&last.each).zip(&second.each) {
        let what = format!("{what}: bytes of each row of {name}, indexes included");
        table.ratio(&what, beside, AtMost(110), " B", (*last, *second));
    }
    table.ratio(
        &format!("{what}: size of {EMPTIED}, whose rows are removed"),
        beside,
        AtMost(110),
        " KiB",
        (last.emptied, second.emptied),
    );
    for (name, last) in SMALL.iter().zip(&last.small) {
        let what = format!("{what}: size of {name}");
        table.figure(&what, AtMost(2048), " KiB", *last);
    }
}

/// Creates, waits until all is delivered, and returns the creates of a second.
fn create_round(stage: &Stage, run: &Run) -> u64 {
    let received = stage.payers.count();
    let (begun, mut created) = (now(), 0);
    while created < run.size(CREATES, 1) {
        created += clients::creates(&stage.scene, CLIENTS, run.time()).count();
    }
    let rate = created * 1_000_000 / micros(begun);
    stage
        .payers
        .wait_for(received + usize::try_from(created).unwrap());
    rate
}

fn round(stage: &Stage, run: &Run) -> Round {
    let cluster = stage.scene.cluster();
    let rate = thread::scope(|scope| {
        scope.spawn(|| cluster.sql(REMOVAL));
        create_round(stage, run)
    });
    let sql = |statement: String| -> u64 { cluster.sql(&statement).parse().unwrap() };
    let each = |name: &&str| {
        sql(format!(
            "SELECT pg_total_relation_size('{name}') / greatest((SELECT count(*) FROM {name}), 1)"
        ))
    };
    let small = |name: &&str| sql(format!("SELECT pg_total_relation_size('{name}') / 1024"));
    let round = Round {
        rate,
        each: GROWING.iter().map(each).collect(),
        emptied: small(&EMPTIED),
        small: SMALL.iter().map(small).collect(),
    };
    println!(
        "{}/s, {:?} B each, {:?} KiB, {} KiB",
        round.rate, round.each, round.small, round.emptied
    );
    round
}
