//! A healthy receiver, first alone, then while 512 endpoints of other companies begin to hang at once.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::http::call;
use crate::receiver::Receiver;
use crate::stage::Stage;
use crate::{paced, pairs};

const ENDPOINTS: u64 = 512;
/// Deliveries to each of them, which are due at the moment when they begin to hang.
const DELIVERIES_EACH: u32 = 4;
const PER_SECOND: u32 = 100;
/// Longer than an attempt.
const HANGS: Duration = Duration::from_secs(13);
const WARM_UP: Duration = Duration::from_secs(3);

/// The endpoints of the crowd.
const CROWD: &str =
    "endpoint_id IN (SELECT e.id FROM endpoints e JOIN companies c ON c.id = e.head_office_id
     WHERE c.name LIKE 'Hanging %')";

pub(crate) fn run(seconds: u64) {
    let stage = Stage::new();
    let hanging = Receiver::start(HANGS);
    for number in 0..ENDPOINTS {
        register(&stage, number, &hanging);
    }
    let time = Duration::from_secs(seconds);
    let run = |time| paced::run(&stage.scene, &stage.payers, PER_SECOND, time);
    run(WARM_UP);
    let beside = || {
        begin_to_hang(&stage);
        let latencies = run(time);
        calm(&stage);
        latencies
    };
    pairs::compare("beside 512 that hang", PER_SECOND, || run(time), beside);
    let attempts = stage.scene.cluster.sql(&format!(
        "SELECT count(*) FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE {CROWD})"
    ));
    println!("{attempts} attempts to those that hang");
}

/// Registers a company with an endpoint.
fn register(stage: &Stage, number: u64, receiver: &Receiver) {
    let platform = &stage.scene.servers.first().unwrap().platform;
    let company = json!({
        "cnpj": cnpj(20_000_000_u64.saturating_add(number)),
        "name": format!("Hanging {number}"),
        "kind": "CONSTRUCTION",
    });
    let company = call(platform, "POST", "/companies", &company);
    let id = company.get("id").and_then(|id| id.as_str()).unwrap();
    stage.register(id, receiver);
}

/// The tax id of the head office with this root.
fn cnpj(root: u64) -> String {
    let mut digits: Vec<u64> = format!("{root:08}0001")
        .bytes()
        .map(|it| u64::from(it.saturating_sub(b'0')))
        .collect();
    for _ in 0..2 {
        // From the right: 2 to 9, and again.
        let weights = (2..=9_u64).cycle();
        let sum: u64 = digits
            .iter()
            .rev()
            .zip(weights)
            .map(|(digit, weight)| digit.saturating_mul(weight))
            .sum();
        let rest = sum % 11;
        digits.push(if rest < 2 {
            0
        } else {
            11_u64.saturating_sub(rest)
        });
    }
    digits.iter().map(u64::to_string).collect()
}

/// Queues deliveries for all of them, due now.
fn begin_to_hang(stage: &Stage) {
    stage.scene.cluster.sql(&format!(
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
fn calm(stage: &Stage) {
    stage.scene.cluster.sql(&format!(
        "UPDATE deliveries SET status = 'FAILED', ended_at = 1, next_attempt_at = NULL,
             leased_until = NULL
         WHERE status = 'PENDING' AND {CROWD}"
    ));
    thread::sleep(HANGS);
    stage
        .scene
        .cluster
        .sql("UPDATE endpoints SET is_slow = FALSE WHERE is_slow");
}
