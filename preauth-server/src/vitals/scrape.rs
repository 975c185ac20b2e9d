//! One scrape: the counters, and values that are looked up now.
//!
//! Looked up values are in a registry of their own, created for this scrape: a value that is
//! unavailable is absent, never outdated.

use std::time::Duration;

use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use prometheus::Registry;
use tokio::time::timeout;

use crate::clock::{Clock, SystemClock};
use crate::fair::Refusals;
use crate::hold::HoldReason;
use crate::store::{Deadlines, LOOKED_AHEAD, Waiting};
use crate::telemetry::metrics::{Families, process, render};

use super::ServerVitals;

/// Timeout of the database; Prometheus gives a scrape 10 s by default.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);
/// The part of its quota of files from which a head office is close to it.
const NEAR_QUOTA_PERCENT: u64 = 80;

/// All metrics as text; always answers, with or without the database.
pub(super) async fn scrape(vitals: &ServerVitals) -> String {
    let registry = Registry::new();
    let families = Families::of(&registry);
    let (read, is_full) = tokio::join!(
        timeout(DATABASE_TIMEOUT, read(vitals)),
        timeout(DATABASE_TIMEOUT, vitals.lifecycle.is_full()),
    );
    let is_up = matches!(read, Ok(Ok(_))) && matches!(is_full, Ok(false));
    if let Ok(Ok(backlog)) = read {
        backlog.add_ages_to(&families);
        backlog.add_counts_to(&families);
    }
    families
        .whole(
            "preauth_database_up",
            "Whether the database answered this scrape: 1, or 0.",
        )
        .set(is_up.into());
    server(vitals, &families);
    connections(vitals, &families);
    refusals(vitals.watch.usage().refusals, &families);
    hold(vitals, &families);
    loops(vitals, &families);
    set_aside(vitals, &families);
    process(&families);
    let mut all = vitals.metrics.gather();
    all.extend(registry.gather());
    all.sort_by(|one, other| one.name().cmp(other.name()));
    render(&all)
}

/// The waiting work in the database.
struct Backlog {
    oldest_due_age: Duration,
    oldest_mail_age: Duration,
    oldest_retried_age: Duration,
    slow_endpoints: u32,
    waiting: Waiting,
    offices_near_quota: u32,
    deadlines: Deadlines,
    oldest_overdue_age: Duration,
    oldest_unsealed_age: Duration,
    /// Until the first of each kind ends.
    ends: [(&'static str, f64); 2],
}

async fn read(vitals: &ServerVitals) -> Result<Backlog, Unavailable> {
    let now = vitals.clock.now();
    let age = |due: Option<Timestamp>| {
        let age = due.map(|due| now.since(due).to_std().unwrap_or_default());
        age.unwrap_or_default()
    };
    let waiting = vitals.watch.waiting(now).await?;
    let deadlines = vitals.watch.deadlines(now).await?;
    let until = |end: Option<Timestamp>| {
        let left = end.map_or(LOOKED_AHEAD, |end| end.since(now).min(LOOKED_AHEAD));
        left.to_std().unwrap_or_default().as_secs_f64()
    };
    Ok(Backlog {
        deadlines,
        oldest_overdue_age: age(deadlines.oldest_overdue_at),
        oldest_unsealed_age: age(deadlines.oldest_unsealed_at),
        ends: [
            ("api_key", until(deadlines.api_key_ends_at)),
            ("operator_token", until(deadlines.operator_token_ends_at)),
        ],
        oldest_due_age: age(vitals.outbox.next_due().await?),
        oldest_mail_age: age(vitals.mails.next_due().await?),
        slow_endpoints: vitals.endpoints.slow_endpoints().await?,
        oldest_retried_age: age(waiting.oldest_retried_at),
        waiting,
        offices_near_quota: match vitals.file_quota_bytes {
            Some(quota) => {
                let near = quota.get().div_ceil(100).saturating_mul(NEAR_QUOTA_PERCENT);
                vitals.watch.offices_with_files_of(near).await?
            }
            None => 0,
        },
    })
}

impl Backlog {
    fn add_ages_to(&self, families: &Families<'_>) {
        families
            .seconds(
                "preauth_audit_log_oldest_unsealed_age_seconds",
                "Age of the oldest row of the audit log that has no seal yet; 0 without one.",
            )
            .set(self.oldest_unsealed_age.as_secs_f64());
        let ends = families.gauges(
            "preauth_key_end_seconds",
            "Seconds until the first key of this kind ends that was used within 7 days; at most 60 days, 5,184,000 s.",
            &["kind"],
        );
        for (kind, seconds) in self.ends {
            ends.with_label_values(&[kind]).set(seconds);
        }
        families
            .seconds(
                "preauth_offers_oldest_overdue_age_seconds",
                "How long the time of the oldest offer that is not expired yet has been over; 0 without one.",
            )
            .set(self.oldest_overdue_age.as_secs_f64());
        families
            .seconds(
                "preauth_deliveries_oldest_due_age_seconds",
                "How long the oldest due delivery that nobody attempts has been due; 0 without one.",
            )
            .set(self.oldest_due_age.as_secs_f64());
        families
            .seconds(
                "preauth_deliveries_oldest_retrying_age_seconds",
                "Age of the oldest event of which a delivery still waits after a failed attempt; 0 without one.",
            )
            .set(self.oldest_retried_age.as_secs_f64());
        families
            .seconds(
                "preauth_notices_oldest_due_age_seconds",
                "How long the oldest due mail that nobody sends has been due; 0 without one.",
            )
            .set(self.oldest_mail_age.as_secs_f64());
    }

    fn add_counts_to(&self, families: &Families<'_>) {
        let Waiting {
            due_deliveries,
            paused_deliveries,
            retried_deliveries,
            oldest_retried_at: _,
            paused_endpoints,
            failing_endpoints,
            staged_mails,
        } = self.waiting;
        for (name, help, value) in [
            (
                "preauth_deliveries_due",
                "Due deliveries of active endpoints, counted up to 10000.",
                due_deliveries,
            ),
            (
                "preauth_deliveries_paused",
                "Pending deliveries of paused endpoints, counted up to 10000.",
                paused_deliveries,
            ),
            (
                "preauth_deliveries_retrying",
                "Pending deliveries of which an attempt has failed, counted up to 10000.",
                retried_deliveries,
            ),
            (
                "preauth_endpoints_failing",
                "Active endpoints where nothing arrives: a delivery failed twice, and nothing was delivered since.",
                failing_endpoints,
            ),
            (
                "preauth_endpoints_paused",
                "Paused endpoints for which deliveries wait.",
                paused_endpoints,
            ),
            (
                "preauth_endpoints_slow",
                "Active endpoints of which an attempt took 1 s or longer.",
                self.slow_endpoints,
            ),
            (
                "preauth_file_quota_near_head_offices",
                "Head offices whose invoice files have 80 % of files.quota_gib or more; 0 without a quota.",
                self.offices_near_quota,
            ),
            (
                "preauth_offers_overdue",
                "Offers whose time is over and that are not expired yet, counted up to 10000.",
                self.deadlines.overdue_offers,
            ),
            (
                "preauth_notices_staged",
                "Mails that are staged and not sent, counted up to 10000.",
                staged_mails,
            ),
        ] {
            families.whole(name, help).set(value.into());
        }
    }
}

fn server(vitals: &ServerVitals, families: &Families<'_>) {
    families
        .wholes(
            "preauth_build_info",
            "1; the labels show which version of the server runs on which database.",
            &["version", "database"],
        )
        .with_label_values(&[env!("CARGO_PKG_VERSION"), vitals.watch.usage().database])
        .set(1);
    families
        .seconds(
            "process_start_time_seconds",
            "When the server was started, in seconds since 1970.",
        )
        .set(unix_seconds(vitals.metrics.started_at()));
    for (name, help, value) in [
        (
            "preauth_dispatcher_slots_in_use",
            "Attempts to deliver that are under way in this process.",
            vitals.dispatcher.slots_in_use(),
        ),
        (
            "preauth_dispatcher_slots",
            "Attempts that may be under way in this process.",
            vitals.dispatcher.slots(),
        ),
        (
            "preauth_event_requests_waiting",
            "Requests of the integration API that wait for the next event.",
            u32::try_from(vitals.waiters.waiting()).unwrap_or(u32::MAX),
        ),
    ] {
        families.whole(name, help).set(value.into());
    }
}

fn hold(vitals: &ServerVitals, families: &Families<'_>) {
    let held = families.wholes(
        "preauth_held",
        "Whether this process must not act, for each reason: 1, or 0.",
        &["reason"],
    );
    for &reason in HoldReason::ALL {
        held.with_label_values(&[reason.as_str()])
            .set(vitals.hold.is_held_for(reason).into());
    }
    let clock = vitals.serving_clock.as_ref();
    let offset = clock.map(|clock| clock.offset()).unwrap_or_default();
    families
        .seconds(
            "preauth_clock_offset_seconds",
            "How far the machine's clock is ahead of the database's; 0 on SQLite.",
        )
        .set(offset.as_seconds_f64());
    families
        .counter(
            "preauth_clock_jumps_total",
            "Jumps of the clock by which this process goes, by more than 30 s while it ran.",
        )
        .inc_by(clock.map(|clock| clock.jumps()).unwrap_or_default());
}

fn connections(vitals: &ServerVitals, families: &Families<'_>) {
    let usage = vitals.watch.usage();
    let connections = families.wholes(
        "preauth_database_connections",
        "Connections of this process to the database; on SQLite those of readers.",
        &["state"],
    );
    for (state, value) in [
        ("in_use", usage.connections_in_use),
        ("idle", usage.connections_idle),
    ] {
        connections.with_label_values(&[state]).set(value.into());
    }
    families
        .whole(
            "preauth_database_connections_limit",
            "Connections that this process may have.",
        )
        .set(usage.connections_limit.into());
    if let Some(switches) = usage.switches {
        families
            .counter(
                "preauth_database_switches_total",
                "How often PostgreSQL's name led to another server than before, or to a restarted one.",
            )
            .inc_by(switches);
    }
    if let Some(queue) = usage.write_queue {
        for (name, help, value) in [
            (
                "preauth_write_queue_length",
                "Writes that wait for SQLite's one writer.",
                queue.length,
            ),
            (
                "preauth_write_queue_limit",
                "Writes that may wait for SQLite's one writer; the next one is refused.",
                queue.limit,
            ),
        ] {
            families.whole(name, help).set(value.into());
        }
    }
    if let Some(bytes) = usage.log_bytes {
        families
            .whole(
                "preauth_write_log_bytes",
                "Size of SQLite's write-ahead log; it grows while another program reads one snapshot.",
            )
            .set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}

fn refusals(refusals: Refusals, families: &Families<'_>) {
    let counted = families.counters(
        "preauth_queue_refusals_total",
        "Requests that found no place in a queue before the database, or waited there for too long.",
        &["reason"],
    );
    for (reason, count) in [("full", refusals.full), ("timed_out", refusals.timed_out)] {
        counted.with_label_values(&[reason]).inc_by(count);
    }
}

fn set_aside(vitals: &ServerVitals, families: &Families<'_>) {
    let rows = families.counters(
        "preauth_rows_set_aside_total",
        "Rows that this build cannot read and set aside, each counted once.",
        &["table"],
    );
    for table in ["deliveries", "notices", "operations"] {
        let _ = rows.with_label_values(&[table]);
    }
    for (table, count) in vitals.watch.set_aside() {
        rows.with_label_values(&[table]).inc_by(count);
    }
}

fn loops(vitals: &ServerVitals, families: &Families<'_>) {
    let last_step = families.gauges(
        "preauth_loop_last_step_timestamp_seconds",
        "When each loop ended its last step, well or badly, in seconds since 1970.",
        &["loop"],
    );
    let failures = families.counters(
        "preauth_loop_failures_total",
        "Steps of each loop that failed, nearly always because the database was not there.",
        &["loop"],
    );
    // The machine's time, which Prometheus compares with its own; the service's may travel.
    let now = SystemClock.now();
    for health in &vitals.loops {
        let at = now.saturating_sub(health.since_last_step());
        last_step
            .with_label_values(&[health.name()])
            .set(unix_seconds(at));
        failures
            .with_label_values(&[health.name()])
            .inc_by(health.failures());
    }
}

fn unix_seconds(at: Timestamp) -> f64 {
    let millis = u64::try_from(at.unix_millis()).unwrap_or_default();
    Duration::from_millis(millis).as_secs_f64()
}
