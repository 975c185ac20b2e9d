//! The machine's clock against the database's, and the time zone data.

use chrono::Datelike;
use preauth_core::value::calendar::{RULES_VERSION, local_time};

use crate::clock::{Clock, MAX_OFFSET, SystemClock};
use crate::hold_watch::NOTABLE_OFFSET;
use crate::store::Checkup;

use super::report::Report;

const CLOCK: &str = "clock";
const SYNCHRONIZE: &str = "synchronize this machine's clock (`timedatectl set-ntp true`)";
/// Years after which Brazil may have changed its rules.
const OLD_YEARS: i32 = 3;

/// The rules for São Paulo's days are those that the program was built with.
pub(super) fn time_zone(report: &mut Report) {
    let here = local_time(SystemClock.now());
    let found = format!(
        "it is {} in São Paulo by the built-in rules of {RULES_VERSION}",
        here.format("%Y-%m-%d %H:%M")
    );
    let digits = RULES_VERSION.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let is_old = digits
        .parse::<i32>()
        .is_ok_and(|year| here.year().saturating_sub(year) > OLD_YEARS);
    if is_old {
        let next =
            "update preauth-server, or check that Brazil's daylight saving time is as before";
        report.warning("time zone", &found, next);
    } else {
        report.ok("time zone", &found);
    }
}

/// Compares with the database's clock; SQLite has none, so that its latest event is compared.
pub(super) fn compare(checkup: Option<&Checkup>, report: &mut Report) {
    let machine = SystemClock.now();
    let Some(checkup) = checkup else {
        report.warning(
            CLOCK,
            &format!("this machine's clock is {machine}; there is no database to compare it with"),
            "get the database to answer, and run this again",
        );
        return;
    };
    if let Some(server) = &checkup.server {
        let offset = server.clock_offset;
        let tenths = offset.num_milliseconds().unsigned_abs() / 100;
        let side = if offset.num_milliseconds() > 0 {
            "ahead of"
        } else {
            "behind"
        };
        let found = format!(
            "this machine's clock is {}.{} s {side} the database's",
            tenths / 10,
            tenths % 10
        );
        if offset.abs() > MAX_OFFSET {
            report.failed(CLOCK, &found, Some(SYNCHRONIZE));
        } else if offset.abs() > NOTABLE_OFFSET {
            report.warning(CLOCK, &found, SYNCHRONIZE);
        } else {
            report.ok(CLOCK, &found);
        }
        return;
    }
    let contents = checkup.contents.as_ref();
    match contents.and_then(|contents| contents.moments.behind(machine)) {
        Some(behind) => report.failed(CLOCK, &behind, Some(SYNCHRONIZE)),
        None => report.ok(
            CLOCK,
            &format!("this machine's clock is {machine}, not behind what the database recorded"),
        ),
    }
}
