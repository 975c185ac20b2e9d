//! A delivery has one attempt at a time: a second one may begin within the lease of the first only if that
//! lease ended early.
//!
//! A killed or frozen instance ends none, nor does a crash of the database: others respect its leases until they run out.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::receiver::Arrival;

/// What is left of a lease at least when an attempt begins: the longest time that it may take.
const LEFT_OF_LEASE: Duration = Duration::from_secs(12);
/// The shortest time from a failure to the next attempt.
const SHORTEST_RETRY: Duration = Duration::from_secs(5);
/// How long after it was leased an attempt may arrive, on a busy machine.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// What ends leases early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disruption {
    /// All leases end: by hand, by a jump of the clock, or when an instance starts on SQLite, whose lock
    /// proves that their holder has ended.
    LeasesEnded,
    /// An instance is asked to stop: it returns the leases of attempts that are not answered in time.
    Stopped,
}

/// A disruption, from its beginning to its end.
#[derive(Clone, Copy, Debug)]
struct Disrupted {
    kind: Disruption,
    from: Instant,
    /// `None` while it lasts.
    until: Option<Instant>,
}

/// A disruption in progress; dropping it ends it.
#[must_use]
pub(crate) struct Disrupting {
    /// Its place among all.
    place: usize,
}

/// The disruptions by this process's drills.
static DISRUPTIONS: Mutex<Vec<Disrupted>> = Mutex::new(Vec::new());

impl Disruption {
    /// Notes that it begins.
    pub(crate) fn begin(self) -> Disrupting {
        let mut all = DISRUPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Disrupted {
            kind: self,
            from: Instant::now(),
            until: None,
        });
        Disrupting {
            place: all.len() - 1,
        }
    }
}

impl Drop for Disrupting {
    fn drop(&mut self) {
        let mut all = DISRUPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        all[self.place].until = Some(Instant::now());
    }
}

impl Disrupted {
    /// Whether it may have ended the lease of the first attempt before the second one.
    fn excuses(&self, first: &Arrival, second: &Arrival) -> bool {
        let was_leased_before = self
            .until
            .is_none_or(|until| first.began <= until + ON_ITS_WAY);
        let is_concerned = match self.kind {
            Disruption::LeasesEnded => true,
            Disruption::Stopped => first.ended >= self.from,
        };
        was_leased_before && is_concerned && second.began >= self.from
    }
}

/// Fails when two attempts of one delivery overlap without a reason. `retried` are the events that have
/// a failed attempt on record, after which another one is due.
pub(crate) fn nothing_overlaps<'a>(
    received: impl IntoIterator<Item = (&'a String, &'a [Arrival])>,
    retried: &BTreeSet<String>,
) {
    let disruptions = DISRUPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    for (id, arrivals) in received {
        let found = overlap(arrivals, retried.contains(id), &disruptions);
        assert!(found.is_none(), "event {id}: {found:?}, {disruptions:?}");
    }
}

/// Two attempts of which the second began while the first had its lease, though nothing ended that.
fn overlap<'a>(
    arrivals: &'a [Arrival],
    is_retried: bool,
    disruptions: &[Disrupted],
) -> Option<(&'a Arrival, &'a Arrival)> {
    let pairs = arrivals.iter().enumerate().flat_map(|(place, first)| {
        let later = arrivals.iter().skip(place + 1);
        later.map(move |second| (first, second))
    });
    let mut of_one_endpoint = pairs.filter(|(first, second)| first.endpoint == second.endpoint);
    of_one_endpoint.find(|(first, second)| {
        let until = if is_retried {
            first.began + SHORTEST_RETRY
        } else {
            first.ended.max(first.began + LEFT_OF_LEASE)
        };
        second.began < until && !disruptions.iter().any(|it| it.excuses(first, second))
    })
}

fn arrival(endpoint: &str, began: Instant, takes_ms: u64) -> Arrival {
    Arrival {
        endpoint: endpoint.to_owned(),
        began,
        ended: began + Duration::from_millis(takes_ms),
    }
}

#[test]
fn a_second_attempt_within_the_lease_of_the_first_is_found() {
    let began = Instant::now();
    let after = |ms| began + Duration::from_millis(ms);
    let two = |ms| [arrival("/a", began, 100), arrival("/a", after(ms), 100)];
    assert!(overlap(&two(50), false, &[]).is_some(), "both at once");
    assert!(overlap(&two(500), false, &[]).is_some(), "answered before");
    let later = two(12_000);
    assert!(overlap(&later, false, &[]).is_none(), "the lease has ended");
    let [first, second] = two(500);
    let other = arrival("/b", after(50), 100);
    let three = [first, other, second];
    let found = overlap(&three, false, &[]);
    assert!(found.is_some(), "another one between");
    let found = overlap(&three[..2], false, &[]);
    assert!(found.is_none(), "of other endpoints");
}

#[test]
fn an_attempt_after_a_failed_one_is_none_too_many_once_it_is_due() {
    let began = Instant::now();
    let after = |ms| began + Duration::from_millis(ms);
    let two = |ms| [arrival("/a", began, 100), arrival("/a", after(ms), 100)];
    assert!(overlap(&two(4_900), true, &[]).is_some(), "before it");
    assert!(overlap(&two(5_000), true, &[]).is_none(), "when it is");
}

/// Whether a disruption excuses a second attempt 1.5 s after the first, which takes half a second.
fn is_excused(kind: Disruption, from_ms: u64, until_ms: Option<u64>) -> bool {
    let start = Instant::now();
    let after = |ms| start + Duration::from_millis(ms);
    let first = arrival("/a", after(5_000), 500);
    let second = arrival("/a", after(6_500), 500);
    let disrupted = Disrupted {
        kind,
        from: after(from_ms),
        until: until_ms.map(after),
    };
    overlap(&[first, second], false, &[disrupted]).is_none()
}

#[test]
fn leases_that_were_ended_between_two_attempts_excuse_the_second() {
    let is_excused = |from, until| is_excused(Disruption::LeasesEnded, from, until);
    assert!(is_excused(5_900, Some(5_950)), "between both");
    assert!(is_excused(4_000, Some(7_000)), "around both");
    assert!(is_excused(4_000, None), "since before");
    assert!(is_excused(3_900, Some(4_100)), "on its way");
    assert!(!is_excused(3_800, Some(3_900)), "before both");
    assert!(!is_excused(6_600, Some(6_700)), "after both");
}

#[test]
fn a_stop_excuses_only_what_was_not_answered_yet() {
    let is_excused = |from, until| is_excused(Disruption::Stopped, from, until);
    assert!(is_excused(5_400, Some(6_400)), "not answered");
    assert!(!is_excused(5_600, Some(6_400)), "answered");
}
