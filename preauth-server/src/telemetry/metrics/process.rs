//! The process as the operating system sees it, under the names that every Prometheus client uses.

use std::fs;

use super::family::Families;

/// Memory and open files, where `/proc` tells them; elsewhere nothing.
pub fn process(families: &Families<'_>) {
    let resident = fs::read_to_string("/proc/self/status");
    if let Some(bytes) = resident.ok().and_then(|status| resident_bytes(&status)) {
        let help = "Resident memory of the process.";
        families
            .whole("process_resident_memory_bytes", help)
            .set(bytes);
    }
    let open = fs::read_dir("/proc/self/fd").map(Iterator::count);
    if let Some(count) = open.ok().and_then(|count| i64::try_from(count).ok()) {
        let help = "File descriptors that the process has open.";
        families.whole("process_open_fds", help).set(count);
    }
    let limits = fs::read_to_string("/proc/self/limits");
    if let Some(count) = limits.ok().and_then(|limits| most_open_files(&limits)) {
        let help = "File descriptors that the process may have open.";
        families.whole("process_max_fds", help).set(count);
    }
}

/// Of a line like `VmRSS:     9172 kB`.
fn resident_bytes(status: &str) -> Option<i64> {
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Of a line like `Max open files   1024   524288   files`, the first number; none if unlimited.
fn most_open_files(limits: &str) -> Option<i64> {
    let line = limits
        .lines()
        .find_map(|it| it.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{most_open_files, resident_bytes};

    #[test]
    fn what_the_operating_system_tells_is_read() {
        let status = "Name:\tpreauth\nVmRSS:\t    9172 kB\nThreads:\t4\n";
        assert_eq!(resident_bytes(status), Some(9172 * 1024));
        let limits =
            "Max processes  7 7 processes\nMax open files            1024     524288   files\n";
        assert_eq!(most_open_files(limits), Some(1024));
        let unlimited = "Max open files            unlimited unlimited files\n";
        assert_eq!(most_open_files(unlimited), None);
        assert_eq!(resident_bytes(""), None);
    }
}
