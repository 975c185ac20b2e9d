//! `audit`: checks the whole content of a live database.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use chrono::TimeDelta;
use clap::Args;
use preauth_core::audit::{Moment, Totals, Violation, Watch, audit_with_seals};
use preauth_core::port::SealMark;

use crate::clock::{Clock, Stopwatch, SystemClock};
use crate::config::{AuditSettings, Config};
use crate::http::WireDecoder;
use crate::mail::LAST_CALLS_PER_MAILBOX;
use crate::stdout::{self, OutputError};
use crate::store;

use super::CliError;
use super::serve::ServeArgs;

/// The exit code when a rule is violated.
const VIOLATED: u8 = 1;

#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    #[command(flatten)]
    serve: ServeArgs,
    /// One JSON object per line, for machines: each violation, then the totals.
    #[arg(long)]
    json: bool,
    /// No server runs on this database (a backup, say): do not expect that expiries are recorded
    /// and leases taken over.
    #[arg(long)]
    at_rest: bool,
    /// A seal of the audit log that a server's log named; fails if it is missing or differs. May be repeated.
    #[arg(long = "seal", value_name = "NUMBER:HASH")]
    seals: Vec<SealMark>,
}

/// Exits with 0 when every rule holds and with 1 otherwise; an error means that it could not run.
pub(super) async fn run(args: &AuditArgs) -> Result<ExitCode, CliError> {
    let settings = Config::audited(&args.serve.layers())?;
    audited(&settings, !args.at_rest, args.json, &args.seals).await
}

/// The same for a database on which no server runs.
pub(super) async fn audit_at_rest(settings: &AuditSettings) -> Result<ExitCode, CliError> {
    audited(settings, false, false, &[]).await
}

async fn audited(
    settings: &AuditSettings,
    is_live: bool,
    json: bool,
    seals: &[SealMark],
) -> Result<ExitCode, CliError> {
    let archive = store::archive(&settings.url).await?;
    let daily_share = settings.daily_share;
    let moment = Moment {
        now: SystemClock.now(),
        is_live,
        daily_share: daily_share.saturating_add(LAST_CALLS_PER_MAILBOX),
        mails_kept: settings.mails_kept,
    };
    let mut report = Report::new(json);
    let totals = audit_with_seals(&*archive, &WireDecoder, moment, seals, &mut report).await?;
    report.end(&totals)?;
    Ok(if totals.violations == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(VIOLATED)
    })
}

/// Prints an audit while it runs: findings and totals to standard output, progress to a terminal.
struct Report {
    json: bool,
    shows_progress: bool,
    stopwatch: Stopwatch,
    /// The second of the last progress line; there is one line per second.
    reported_second: i64,
    /// The first failure to write a line.
    broken: Option<OutputError>,
}

impl Report {
    fn new(json: bool) -> Self {
        Self {
            json,
            shows_progress: io::stderr().is_terminal(),
            stopwatch: Stopwatch::start(),
            reported_second: 0,
            broken: None,
        }
    }

    fn end(mut self, totals: &Totals) -> Result<(), OutputError> {
        let elapsed = self.stopwatch.elapsed();
        let text = if self.json {
            totals_as_json(totals, elapsed)
        } else {
            totals_as_text(totals, elapsed)
        };
        self.print(&text);
        self.broken.map_or(Ok(()), Err)
    }

    fn print(&mut self, line: &str) {
        let written = stdout::print(line);
        self.broken = self.broken.take().or_else(|| written.err());
    }
}

impl Watch for Report {
    fn found(&mut self, violation: Violation) {
        let text = if self.json {
            violation_as_json(&violation)
        } else {
            format!("{violation}\n  next: {}", violation.rule.next_step())
        };
        self.print(&text);
    }

    fn progressed(&mut self, totals: &Totals) {
        let second = self.stopwatch.elapsed().num_seconds();
        if self.shows_progress && second > self.reported_second {
            self.reported_second = second;
            let (operations, found) = (totals.operations, totals.violations);
            // Progress is optional, so a failure to write it is ignored.
            let _ = writeln!(
                io::stderr().lock(),
                "... {operations} operations, {found} violations"
            );
        }
    }
}

fn violation_as_json(violation: &Violation) -> String {
    let rule = violation.rule;
    serde_json::json!({
        "rule": rule.as_str(),
        "subject": violation.subject.to_string(),
        "found": violation.what,
        "meaning": rule.sentence(),
        "next": rule.next_step(),
    })
    .to_string()
}

fn totals_as_json(totals: &Totals, elapsed: TimeDelta) -> String {
    serde_json::json!({
        "totals": {
            "operations": totals.operations,
            "paymentOrders": totals.orders,
            "events": totals.events,
            "deliveries": totals.deliveries,
            "attempts": totals.attempts,
            "replies": totals.replies,
            "mails": totals.mails,
            "auditLogSeals": totals.seals,
            "listedEvents": totals.listed,
            "violations": totals.violations,
            "durationMs": elapsed.num_milliseconds(),
        }
    })
    .to_string()
}

fn totals_as_text(totals: &Totals, elapsed: TimeDelta) -> String {
    let rows = records(totals);
    let ms = elapsed.num_milliseconds().max(1).unsigned_abs();
    let per_second = rows.saturating_mul(1000).checked_div(ms).unwrap_or(rows);
    let findings = match totals.violations {
        0 => "every rule holds".to_owned(),
        1 => "1 violation".to_owned(),
        count => format!("{count} violations"),
    };
    format!(
        "{findings}: {} operations, {} payment orders, {} events, {} deliveries, {} attempts, {} \
         idempotency replies, {} mails, {} seals of the audit log, {} events in lists; {}.{:03} s, {per_second} rows/s",
        totals.operations,
        totals.orders,
        totals.events,
        totals.deliveries,
        totals.attempts,
        totals.replies,
        totals.mails,
        totals.seals,
        totals.listed,
        elapsed.num_seconds(),
        ms % 1000,
    )
}

fn records(totals: &Totals) -> u64 {
    let counts = [
        totals.operations,
        totals.orders,
        totals.events,
        totals.deliveries,
        totals.attempts,
        totals.replies,
        totals.mails,
        totals.seals,
        totals.listed,
    ];
    counts.into_iter().fold(0, u64::saturating_add)
}
