//! A limit for requests without a valid key or token, per client and per process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use preauth_core::value::Timestamp;

use super::client_address::{ClientAddress, ClientGroup};

/// Requests without a valid key that one client may make in a window.
const MAX_REQUESTS: u32 = 600;
const WINDOW_SECONDS: i64 = 60;
/// Maximum number of clients remembered; when it is reached within a window, all windows start
/// anew.
const MAX_CLIENTS: usize = 100_000;

/// Counts such requests, unless it is unlimited; clones share the counts.
#[derive(Clone, Debug)]
pub struct UnauthenticatedLimiter(Option<Arc<Mutex<Windows>>>);

#[derive(Debug, Default)]
struct Windows(HashMap<ClientGroup, Window>);

#[derive(Clone, Copy, Debug)]
struct Window {
    began_at: Timestamp,
    count: u32,
}

impl UnauthenticatedLimiter {
    /// A limiter that counts.
    #[must_use]
    pub fn limited() -> Self {
        Self(Some(Arc::default()))
    }

    /// A limiter without a limit, for the sandbox.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self(None)
    }

    /// Counts one request; `Err` with the seconds to wait when its client has reached the limit.
    pub fn count(&self, client: ClientAddress, now: Timestamp) -> Result<(), u32> {
        let Some(mut windows) = self.windows() else {
            return Ok(());
        };
        windows.make_room(now);
        let new = Window {
            began_at: now,
            count: 0,
        };
        let window = windows.0.entry(client.group()).or_insert(new);
        if window.is_over(now) {
            *window = new;
        }
        window.count = window.count.saturating_add(1);
        if window.count > MAX_REQUESTS {
            return Err(window.seconds_left(now));
        }
        Ok(())
    }

    /// The seconds to wait, when this client has reached the limit.
    #[must_use]
    pub fn exhausted(&self, client: ClientAddress, now: Timestamp) -> Option<u32> {
        let windows = self.windows()?;
        let window = windows.0.get(&client.group())?;
        let is_exhausted = window.count >= MAX_REQUESTS && !window.is_over(now);
        is_exhausted.then(|| window.seconds_left(now))
    }

    fn windows(&self) -> Option<MutexGuard<'_, Windows>> {
        let windows = self.0.as_ref()?;
        Some(windows.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Windows {
    fn make_room(&mut self, now: Timestamp) {
        if self.0.len() >= MAX_CLIENTS {
            self.0.retain(|_, window| !window.is_over(now));
        }
        if self.0.len() >= MAX_CLIENTS {
            self.0.clear();
        }
    }
}

impl Window {
    /// A window is also over when the clock was set back.
    fn is_over(self, now: Timestamp) -> bool {
        let age = now.since(self.began_at);
        age >= TimeDelta::seconds(WINDOW_SECONDS) || age < TimeDelta::zero()
    }

    fn seconds_left(self, now: Timestamp) -> u32 {
        let age = now.since(self.began_at).num_seconds();
        let left = WINDOW_SECONDS.saturating_sub(age);
        u32::try_from(left).unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> ClientAddress {
        ClientAddress::new(text.parse().unwrap())
    }

    #[test]
    fn a_client_waits_for_its_window_to_end() {
        let limiter = UnauthenticatedLimiter::limited();
        let (one, other) = (client("203.0.113.7"), client("203.0.113.8"));
        let start = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        for _ in 0..MAX_REQUESTS {
            assert_eq!(limiter.exhausted(one, start), None);
            assert_eq!(limiter.count(one, start), Ok(()));
        }
        let later = |seconds| start.saturating_add(TimeDelta::seconds(seconds));
        assert_eq!(limiter.exhausted(one, later(20)), Some(40));
        assert_eq!(limiter.count(one, later(20)), Err(40));
        assert_eq!(limiter.exhausted(other, later(20)), None);
        assert_eq!(limiter.count(other, later(20)), Ok(()));
        assert_eq!(limiter.exhausted(one, later(60)), None);
        assert_eq!(limiter.count(one, later(60)), Ok(()));
    }

    #[test]
    fn the_addresses_of_one_ipv6_network_share_a_window() {
        let limiter = UnauthenticatedLimiter::limited();
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        for n in 0..MAX_REQUESTS {
            let address = client(&format!("2001:db8::{n:x}"));
            assert_eq!(limiter.count(address, now), Ok(()));
        }
        assert_eq!(limiter.count(client("2001:db8::ffff:1"), now), Err(60));
        assert_eq!(limiter.count(client("2001:db8:0:1::1"), now), Ok(()));
    }

    #[test]
    fn windows_that_are_over_make_room_first() {
        let start = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let window = |began_at| Window { began_at, count: 1 };
        let address = |n: u32| ClientAddress::new(std::net::Ipv4Addr::from(n).into()).group();
        let mut windows = Windows::default();
        for n in 1..MAX_CLIENTS {
            windows
                .0
                .insert(address(u32::try_from(n).unwrap()), window(start));
        }
        let now = start.saturating_add(TimeDelta::seconds(WINDOW_SECONDS));
        windows.0.insert(address(0), window(now));
        windows.make_room(now);
        assert_eq!(windows.0.len(), 1);
    }
}
