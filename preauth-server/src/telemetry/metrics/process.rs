//! The metrics of the process from the operating system, under the names that all Prometheus
//! clients use.

use std::fs;
use std::time::Duration;

use super::family::Families;

/// The unit in which Linux reports processor time, on every supported machine.
const TICK_MS: u64 = 10;

/// Processor time, memory, threads and open files, if `/proc` has them; otherwise nothing.
pub fn process(families: &Families<'_>) {
    let stat = fs::read_to_string("/proc/self/stat");
    if let Some(seconds) = stat.ok().and_then(|stat| cpu_seconds(&stat)) {
        let help = "Processor time that the process has used, its own and the system's for it.";
        families
            .seconds_spent("process_cpu_seconds_total", help)
            .inc_by(seconds);
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(bytes) = resident_bytes(&status) {
        let help = "Resident memory of the process.";
        families
            .whole("process_resident_memory_bytes", help)
            .set(bytes);
    }
    if let Some(count) = threads(&status) {
        let help = "Threads of the process.";
        families.whole("process_threads", help).set(count);
    }
    let open = fs::read_dir("/proc/self/fd").map(Iterator::count);
    if let Some(count) = open.ok().and_then(|count| i64::try_from(count).ok()) {
        let help = "File descriptors that the process has open.";
        families.whole("process_open_fds", help).set(count);
    }
    let limits = fs::read_to_string("/proc/self/limits");
    if let Some(count) = limits.ok().and_then(|limits| max_open_files(&limits)) {
        let help = "File descriptors that the process may have open.";
        families.whole("process_max_fds", help).set(count);
    }
}

/// From a line like `4711 (preauth-server) S 1 …`: the 14th and 15th fields, in ticks. The name may
/// contain anything, so fields are counted from its end.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut times = behind_name.split_whitespace().skip(11).take(2);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    let spent_ms = user.checked_add(system)?.checked_mul(TICK_MS)?;
    Some(Duration::from_millis(spent_ms).as_secs_f64())
}

/// From a line like `Threads:  4`.
fn threads(status: &str) -> Option<i64> {
    let line = status.lines().find_map(|it| it.strip_prefix("Threads:"))?;
    line.trim().parse().ok()
}

/// From a line like `VmRSS:     9172 kB`.
fn resident_bytes(status: &str) -> Option<i64> {
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// From a line like `Max open files   1024   524288   files`, the first number; `None` if
/// unlimited.
fn max_open_files(limits: &str) -> Option<i64> {
    let line = limits
        .lines()
        .find_map(|it| it.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{cpu_seconds, max_open_files, resident_bytes, threads};

    #[test]
    fn process_metrics_of_the_operating_system_are_parsed() {
        let status = "Name:\tpreauth\nVmRSS:\t    9172 kB\nThreads:\t4\n";
        assert_eq!(resident_bytes(status), Some(9172 * 1024));
        assert_eq!(threads(status), Some(4));
        let stat = "4711 (a ) b) S 1 2 3 0 -1 4194560 9 0 0 0 1234 66 7 8 20 0 4 0 99\n";
        assert_eq!(cpu_seconds(stat), Some(13.0));
        assert_eq!(cpu_seconds("4711 (a) S 1"), None);
        let limits =
            "Max processes  7 7 processes\nMax open files            1024     524288   files\n";
        assert_eq!(max_open_files(limits), Some(1024));
        let unlimited = "Max open files            unlimited unlimited files\n";
        assert_eq!(max_open_files(unlimited), None);
        assert_eq!(resident_bytes(""), None);
    }
}
