//! The resident memory of a process.

use std::fs;

/// Makes the most memory that a process ever had what it has now.
pub(crate) fn forget_peak(process: u32) {
    // Without the right to do so the peak before counts as well.
    let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
}

/// What it has now.
pub(crate) fn resident_kib(process: u32) -> u64 {
    field(process, "VmRSS:")
}

/// The most that it had.
pub(crate) fn peak_kib(process: u32) -> u64 {
    field(process, "VmHWM:")
}

fn field(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.unwrap().parse().unwrap()
}
