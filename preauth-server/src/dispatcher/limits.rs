//! Limits of concurrent attempts and of durations.
//!
//! A receiver that hangs holds a slot for the duration of an attempt. Three rules protect the others.
//! First, slow attempts have slots of their own: an attempt that hangs moves to these after a second.
//! Second, the more slots are taken, the fewer one endpoint gets. While most are free, it gets enough to
//! keep a distant receiver busy. As long as fewer than 576 endpoints begin to hang at the same moment, a
//! quarter of the slots stays free, however long their queues are. These are for those that answer: such
//! an endpoint gets as many as when half of the slots are free. Third, endpoints that are known to be
//! slow share half of the slow slots by the same rule; the other half is for endpoints that begin to hang.

use std::num::NonZeroU32;
use std::time::Duration;

use chrono::TimeDelta;

/// The part of the slots, as a divisor, up to which one endpoint may have many.
const QUIET_PART: u32 = 4;
/// Slots of one endpoint when more than half of them are taken; one slot when more than three
/// quarters are.
const PER_ENDPOINT_WHEN_CROWDED: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// The limits of the dispatcher.
///
/// `quick` and `slow` together are the maximum number of attempts in progress in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Slots of attempts that are not slow. Default: 768.
    pub quick: NonZeroU32,
    /// Slots of attempts that are slow, or belong to slow endpoints. While all are taken, further slow
    /// attempts keep slots of the quick ones. Default: 768.
    pub slow: u32,
    /// Number of slow attempts from which on no further attempt to a slow endpoint begins. Default: 384.
    pub to_slow: u32,
    /// Maximum number of attempts in progress to one endpoint, from all processes, while a quarter of
    /// its slots is taken; fewer while half are taken. Default: 8.
    pub per_endpoint: NonZeroU32,
    /// The same while less than a quarter of its slots is taken. Default: 64.
    pub per_endpoint_when_quiet: NonZeroU32,
    /// Number of attempts in progress to one endpoint from which on commits of this process hand over no
    /// further delivery to it, while less than a quarter of the slots is taken. It is so small that a
    /// few processes together leave room for deliveries that are due. Default: 16.
    pub per_endpoint_of_commits: NonZeroU32,
    /// The same while more slots are taken. Of the attempts in progress one must then have begun as the
    /// only one within `stuck_after`, or an attempt must have ended within the last second. Default: 8.
    pub per_endpoint_of_commits_when_crowded: u32,
    /// The interval for that. Default: 100 ms.
    pub stuck_after: Duration,
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
    /// Of an endpoint that has answered within the last second.
    pub(super) per_answering_endpoint: NonZeroU32,
    /// 0 while slow endpoints wait.
    pub(super) slow_room: u32,
    pub(super) per_slow_endpoint: NonZeroU32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            quick: const { NonZeroU32::new(768).unwrap() },
            slow: 768,
            to_slow: 384,
            per_endpoint: const { NonZeroU32::new(8).unwrap() },
            per_endpoint_when_quiet: const { NonZeroU32::new(64).unwrap() },
            per_endpoint_of_commits: const { NonZeroU32::new(16).unwrap() },
            per_endpoint_of_commits_when_crowded: 8,
            stuck_after: Duration::from_millis(100),
            lease: TimeDelta::seconds(30),
            attempt: Duration::from_secs(12),
            drain: Duration::from_secs(5),
            poll: Duration::from_secs(1),
        }
    }
}

impl Limits {
    /// The maximum number of attempts in progress.
    #[must_use]
    pub const fn in_all(&self) -> u32 {
        self.quick.get().saturating_add(self.slow)
    }

    /// The number of attempts that may begin before one endpoint's limit shrinks, while `slow` of
    /// `under_way` attempts are slow; `None` when no slot is free.
    pub(super) fn share(&self, under_way: u32, slow: u32) -> Option<Share> {
        let quick = under_way.saturating_sub(slow.min(self.slow));
        let (room, per_endpoint) = self.part(self.quick.get(), quick)?;
        let of_slow = self.part(self.to_slow, slow);
        Some(Share {
            room,
            per_endpoint,
            per_answering_endpoint: per_endpoint.max(self.per_endpoint),
            slow_room: of_slow.map_or(0, |(room, _)| room.get()),
            per_slow_endpoint: of_slow.map_or(NonZeroU32::MIN, |(_, part)| part),
        })
    }

    /// How many of `all` slots may be taken, and how many by one endpoint.
    fn part(&self, all: u32, taken: u32) -> Option<(NonZeroU32, NonZeroU32)> {
        let crowded = self.per_endpoint.min(PER_ENDPOINT_WHEN_CROWDED);
        [
            (all / QUIET_PART, self.per_endpoint_when_quiet),
            (all / 2, self.per_endpoint),
            (all.saturating_sub(all / 4), crowded),
            (all, NonZeroU32::MIN),
        ]
        .into_iter()
        .find_map(|(up_to, per_endpoint)| {
            let room = NonZeroU32::new(up_to.saturating_sub(taken))?;
            Some((room, per_endpoint))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::Limits;

    fn share(under_way: u32, slow: u32) -> Option<(u32, u32)> {
        let share = Limits::default().share(under_way, slow)?;
        Some((share.room.get(), share.per_endpoint.get()))
    }

    fn slow_share(slow: u32) -> (u32, u32) {
        let share = Limits::default().share(slow, slow).unwrap();
        (share.slow_room, share.per_slow_endpoint.get())
    }

    #[test]
    fn the_fuller_it_is_the_fewer_one_endpoint_gets() {
        assert_eq!(share(0, 0), Some((192, 64)));
        assert_eq!(share(191, 0), Some((1, 64)));
        assert_eq!(share(192, 0), Some((192, 8)));
        assert_eq!(share(383, 0), Some((1, 8)));
        assert_eq!(share(384, 0), Some((192, 2)));
        assert_eq!(share(575, 0), Some((1, 2)));
        assert_eq!(share(576, 0), Some((192, 1)));
        assert_eq!(share(767, 0), Some((1, 1)));
        assert_eq!(share(768, 0), None);
        assert_eq!(share(u32::MAX, 0), None);
    }

    #[test]
    fn slow_attempts_take_no_slot_of_the_others_while_they_have_their_own() {
        assert_eq!(share(768, 768), Some((192, 64)));
        assert_eq!(share(960, 768), Some((192, 8)));
        // 200 slow attempts more than there are slow slots.
        assert_eq!(share(968, 968), Some((184, 8)));
        assert_eq!(share(Limits::default().in_all(), 1_000), None);
    }

    #[test]
    fn slow_endpoints_share_their_part_by_the_same_rule() {
        assert_eq!(slow_share(0), (96, 64));
        assert_eq!(slow_share(96), (96, 8));
        assert_eq!(slow_share(192), (96, 2));
        assert_eq!(slow_share(383), (1, 1));
        assert_eq!(slow_share(384).0, 0);
    }

    #[test]
    fn a_part_never_grows_above_the_limit_of_one_endpoint() {
        let limits = Limits {
            per_endpoint: NonZeroU32::MIN,
            ..Limits::default()
        };
        for under_way in [192, 384, 576] {
            assert_eq!(limits.share(under_way, 0).unwrap().per_endpoint.get(), 1);
        }
    }
}
