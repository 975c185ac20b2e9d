//! How long and how often a case measures.

use std::env;
use std::fs;
use std::thread;
use std::time::Duration;

use crate::statistics::hundredths;

/// Pairs of runs; the table shows the median of their ratios and the extremes.
const PAIRS: usize = 5;
const SECONDS: u64 = 10;
const MAX_OPERATIONS: u64 = 10_000_000;
/// A machine on which less than this ran before, in hundredths of a process, had nothing else to do.
const QUIET: u64 = 30;

pub(crate) struct Run {
    /// Only checks that everything runs.
    pub(crate) is_short: bool,
    pub(crate) pairs: usize,
    pub(crate) seconds: u64,
    /// Up to which the pictures go.
    pub(crate) max_operations: u64,
    /// Processes that ran before the benchmark, in hundredths.
    load_before: u64,
}

impl Run {
    /// The numbers are those on the command line.
    pub(crate) fn new(is_short: bool, numbers: &[u64]) -> Self {
        let number = |place: usize, full, short| {
            let otherwise = if is_short { short } else { full };
            numbers.get(place).copied().unwrap_or(otherwise)
        };
        Self {
            is_short,
            pairs: if is_short { 1 } else { PAIRS },
            seconds: number(0, SECONDS, 1),
            max_operations: number(1, MAX_OPERATIONS, 1000),
            load_before: load_average(),
        }
    }

    /// Under which conditions the figures were measured.
    pub(crate) fn conditions(&self) -> String {
        let processors = thread::available_parallelism().unwrap();
        let build = if cfg!(debug_assertions) {
            "clients built without optimization"
        } else {
            "optimized build"
        };
        let server = match env::var_os("PREAUTH_SERVER") {
            Some(_) => ", another server than the one built with the benchmark",
            None => "",
        };
        let load = hundredths(self.load_before);
        let company = if self.load_before < QUIET {
            "nothing else on the machine"
        } else {
            "BESIDE OTHER WORK, so that absolute figures mean nothing"
        };
        format!(
            "{processors} processors shared by clients, server and database; {build}{server}; {} s for each figure; \
             {company} (load average {load} before).",
            self.seconds
        )
    }

    /// The duration of one measurement.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Statements are prepared and connections opened before a measurement.
    pub(crate) fn warm_up(&self) -> Duration {
        Duration::from_millis(self.size(3000, 100))
    }

    /// The size of a case.
    pub(crate) fn size(&self, full: u64, short: u64) -> u64 {
        if self.is_short { short } else { full }
    }

    /// Measures both sides of each pair. Their order alternates, so that a change in the machine
    /// affects both.
    pub(crate) fn alternate<A, B>(
        &self,
        mut one: impl FnMut() -> A,
        mut other: impl FnMut() -> B,
        mut add: impl FnMut(A, B),
    ) {
        for pair in 0..self.pairs {
            if pair % 2 == 0 {
                let one = one();
                add(one, other());
            } else {
                let other = other();
                add(one(), other);
            }
        }
    }
}

/// Of the last minute, in hundredths.
fn load_average() -> u64 {
    let averages = fs::read_to_string("/proc/loadavg").unwrap();
    let last_minute = averages.split(' ').next().unwrap();
    last_minute.replace('.', "").parse().unwrap()
}
