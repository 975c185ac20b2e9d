//! Limits of concurrent attempts and of durations.
//!
//! A receiver that hangs holds a slot for the duration of an attempt. Two rules protect the others.
//! First, the more slots are taken, the fewer one endpoint gets: while most are free, enough to
//! keep a distant receiver busy; while fewer than 384 endpoints begin to hang at the same moment, a
//! quarter of all slots stays free, however long their queues are. Second, all endpoints that are
//! known to be slow share a quarter of all slots, and each gets only a few.

use std::num::NonZeroU32;
use std::time::Duration;

use chrono::TimeDelta;

/// The part of all slots, as a divisor, up to which one endpoint may have many.
const QUIET_PART: u32 = 4;
/// Slots of one endpoint when more than half of all are taken; one slot when more than three
/// quarters are.
const PER_ENDPOINT_WHEN_CROWDED: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// The limits of the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of attempts in progress in this process. Default: 512.
    pub in_all: NonZeroU32,
    /// Maximum number of them that are slow or belong to slow endpoints; slow endpoints wait while
    /// it is reached. Default: 128.
    pub to_slow: u32,
    /// Maximum number of attempts in progress to one endpoint, from all processes; fewer while half
    /// of all slots are taken. Default: 8.
    pub per_endpoint: NonZeroU32,
    /// The same for an endpoint that is not slow, while less than a quarter of all slots is taken.
    /// Default: 64.
    pub per_endpoint_when_quiet: NonZeroU32,
    /// Duration of a lease; longer than an attempt and its recording. Default: 30 s.
    pub lease: TimeDelta,
    /// Maximum duration of an attempt, also when the sender does not return. Default: 12 s.
    pub attempt: Duration,
    /// Maximum wait for attempts in progress at shutdown, before their leases are returned.
    /// Default: 5 s.
    pub drain: Duration,
    /// Maximum pause between two polls of the outbox. Default: 1 s.
    pub poll: Duration,
}

/// The number of attempts that may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) room: NonZeroU32,
    pub(super) per_endpoint: NonZeroU32,
    pub(super) per_slow_endpoint: NonZeroU32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_all: const { NonZeroU32::new(512).unwrap() },
            to_slow: 128,
            per_endpoint: const { NonZeroU32::new(8).unwrap() },
            per_endpoint_when_quiet: const { NonZeroU32::new(64).unwrap() },
            lease: TimeDelta::seconds(30),
            attempt: Duration::from_secs(12),
            drain: Duration::from_secs(5),
            poll: Duration::from_secs(1),
        }
    }
}

impl Limits {
    /// The number of attempts that may begin before one endpoint's limit shrinks; `None` when every
    /// slot is taken.
    pub(super) fn share(&self, under_way: u32) -> Option<Share> {
        let all = self.in_all.get();
        let crowded = self.per_endpoint.min(PER_ENDPOINT_WHEN_CROWDED);
        [
            (all / QUIET_PART, self.per_endpoint_when_quiet),
            (all / 2, self.per_endpoint),
            (all.saturating_sub(all / 4), crowded),
            (all, NonZeroU32::MIN),
        ]
        .into_iter()
        .find_map(|(up_to, per_endpoint)| {
            let room = NonZeroU32::new(up_to.saturating_sub(under_way))?;
            Some(Share {
                room,
                per_endpoint,
                per_slow_endpoint: per_endpoint.min(self.per_endpoint),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::{Limits, Share};

    fn share(under_way: u32) -> Option<(u32, u32)> {
        let share = Limits::default().share(under_way)?;
        Some((share.room.get(), share.per_endpoint.get()))
    }

    #[test]
    fn the_fuller_it_is_the_fewer_one_endpoint_gets() {
        assert_eq!(share(0), Some((128, 64)));
        assert_eq!(share(127), Some((1, 64)));
        assert_eq!(share(128), Some((128, 8)));
        assert_eq!(share(255), Some((1, 8)));
        assert_eq!(share(256), Some((128, 2)));
        assert_eq!(share(383), Some((1, 2)));
        assert_eq!(share(384), Some((128, 1)));
        assert_eq!(share(511), Some((1, 1)));
        assert_eq!(share(512), None);
        assert_eq!(share(u32::MAX), None);
    }

    #[test]
    fn a_part_never_grows_above_the_limit_of_one_endpoint() {
        let limits = Limits {
            per_endpoint: NonZeroU32::MIN,
            ..Limits::default()
        };
        for under_way in [128, 256, 384] {
            assert_eq!(limits.share(under_way).unwrap().per_endpoint.get(), 1);
        }
    }

    #[test]
    fn a_slow_endpoint_gets_no_more_when_it_is_quiet() {
        for (under_way, part) in [(0, 8), (128, 8), (256, 2), (384, 1)] {
            let share: Share = Limits::default().share(under_way).unwrap();
            assert_eq!(share.per_slow_endpoint.get(), part);
        }
    }
}
