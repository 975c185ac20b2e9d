//! The time since the machine was started, which cannot be set.

use chrono::TimeDelta;
use rustix::time::{ClockId, clock_gettime};

/// Measures the passing of time, sleep included; it cannot be set and never goes back.
pub trait Uptime: Send + Sync {
    /// The time since a fixed moment.
    fn elapsed(&self) -> TimeDelta;
}

/// The operating system's clock that counts sleep (`CLOCK_BOOTTIME`).
#[derive(Clone, Copy, Debug, Default)]
pub struct BootTime;

impl Uptime for BootTime {
    fn elapsed(&self) -> TimeDelta {
        let now = clock_gettime(ClockId::Boottime);
        let nanos = u32::try_from(now.tv_nsec).unwrap_or_default();
        TimeDelta::new(now.tv_sec, nanos).unwrap_or(TimeDelta::MAX)
    }
}
