//! A limit for those who present no valid key, per client address, in this process alone.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;
use preauth_core::value::Timestamp;
use salvo::conn::SocketAddr;

/// Requests without a valid key that one address may make in a window.
const REQUESTS_PER_WINDOW: u32 = 600;
const WINDOW_SECONDS: i64 = 60;
/// So many addresses are remembered; when there are more, all windows begin anew.
const ADDRESS_LIMIT: usize = 100_000;

/// Counts strangers, or does not; clones count together.
#[derive(Clone, Debug)]
pub struct Strangers(Option<Arc<Mutex<Windows>>>);

/// When each address's window began, and what was counted in it.
type Windows = HashMap<IpAddr, (Timestamp, u32)>;

impl Strangers {
    /// Counts.
    #[must_use]
    pub fn limited() -> Self {
        Self(Some(Arc::default()))
    }

    /// Does not count: for the sandbox.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self(None)
    }

    /// Counts one request; `Err` with the seconds to wait when the address had its share.
    pub fn count(&self, address: &SocketAddr, now: Timestamp) -> Result<(), u32> {
        let (Some(windows), Some(address)) = (&self.0, ip(address)) else {
            return Ok(());
        };
        let mut windows = windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= ADDRESS_LIMIT {
            windows.clear();
        }
        let (started_at, count) = windows.entry(address).or_insert((now, 0));
        let age = now.since(*started_at);
        if age >= TimeDelta::seconds(WINDOW_SECONDS) || age < TimeDelta::zero() {
            (*started_at, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        if *count <= REQUESTS_PER_WINDOW {
            return Ok(());
        }
        let left = WINDOW_SECONDS.saturating_sub(now.since(*started_at).num_seconds());
        Err(u32::try_from(left).unwrap_or(1).max(1))
    }
}

fn ip(address: &SocketAddr) -> Option<IpAddr> {
    match address {
        SocketAddr::IPv4(address) => Some(IpAddr::V4(*address.ip())),
        SocketAddr::IPv6(address) => Some(IpAddr::V6(*address.ip())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{REQUESTS_PER_WINDOW, Strangers};
    use chrono::TimeDelta;
    use preauth_core::value::Timestamp;

    #[test]
    fn an_address_waits_for_its_window_to_end() {
        let strangers = Strangers::limited();
        let address = std::net::SocketAddr::from(([203, 0, 113, 7], 4000)).into();
        let other = std::net::SocketAddr::from(([203, 0, 113, 8], 4000)).into();
        let start = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        for _ in 0..REQUESTS_PER_WINDOW {
            assert_eq!(strangers.count(&address, start), Ok(()));
        }
        let later = |seconds| start.saturating_add(TimeDelta::seconds(seconds));
        assert_eq!(strangers.count(&address, later(20)), Err(40));
        assert_eq!(strangers.count(&other, later(20)), Ok(()));
        assert_eq!(strangers.count(&address, later(60)), Ok(()));
    }
}
