//! As many creates whose events are delivered as an hour with 100 a second brings, in rounds: rows must
//! not take more room in the last round than in the first, nor the rate fall.
//!
//! Automatic vacuums look once a second instead of once a minute, so that these minutes see as many of
//! them as an hour or more.

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
/// Tables whose rows stay for long, most of which are changed once or twice.
const GROWING: [&str; 7] = [
    "operations",
    "deliveries",
    "attempts",
    "notices",
    "events",
    "idempotency_replies",
    "event_feed",
];
/// Tables of few rows that are changed all the time.
const SMALL: [&str; 3] = ["operation_counts", "rate_counts", "event_batches"];

/// A database after a round.
struct Round {
    rate: u64,
    /// Bytes of each growing table with its indexes, for each row.
    each: Vec<u64>,
    /// KiB of each small table with its indexes.
    small: Vec<u64>,
}

pub(crate) fn run(run: &Run, table: &mut Table) {
    let stage = Stage::new(run);
    let cluster = stage.scene.cluster();
    cluster.sql("ALTER SYSTEM SET autovacuum_naptime = '1s'");
    cluster.sql("SELECT pg_reload_conf()");
    clients::creates(&stage.scene, CLIENTS, run.warm_up());
    let first = round(&stage, run);
    let rounds = run.size(ROUNDS, 2);
    let mut last = round(&stage, run);
    for _ in 2..rounds {
        last = round(&stage, run);
    }
    let beside = "in the first";
    let what = "create and deliver, round after round";
    let rates = (last.rate, first.rate);
    table.ratio(
        &format!("{what}: rate in the last"),
        beside,
        AtLeast(90),
        "/s",
        rates,
    );
    for ((name, last), first) in GROWING.iter().zip(&last.each).zip(&first.each) {
        let what = format!("{what}: bytes of each row of {name}, indexes included");
        table.ratio(&what, beside, AtMost(110), " B", (*last, *first));
    }
    for (name, last) in SMALL.iter().zip(&last.small) {
        let what = format!("{what}: size of {name}");
        table.figure(&what, AtMost(2048), " KiB", *last);
    }
}

fn round(stage: &Stage, run: &Run) -> Round {
    let received = stage.payers.count();
    let (begun, mut created) = (now(), 0);
    while created < run.size(CREATES, 1) {
        created += clients::creates(&stage.scene, CLIENTS, run.time()).count();
    }
    let rate = created * 1_000_000 / micros(begun);
    stage
        .payers
        .wait_for(received + usize::try_from(created).unwrap());
    let sql = |statement: String| -> u64 { stage.scene.cluster().sql(&statement).parse().unwrap() };
    let each = |name: &&str| {
        sql(format!(
            "SELECT pg_total_relation_size('{name}') / greatest((SELECT count(*) FROM {name}), 1)"
        ))
    };
    let small = |name: &&str| sql(format!("SELECT pg_total_relation_size('{name}') / 1024"));
    let round = Round {
        rate,
        each: GROWING.iter().map(each).collect(),
        small: SMALL.iter().map(small).collect(),
    };
    println!(
        "{}/s, {:?} B each, {:?} KiB",
        round.rate, round.each, round.small
    );
    round
}
