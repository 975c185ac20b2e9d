//! A delivery has one attempt at a time: a second one may begin within the lease of the first only if the
//! holder of that lease was killed, stopped or frozen, or if leases were ended by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::receiver::{Arrival, Event};

/// What is left of a lease at least when an attempt begins: the longest time that it may take.
const LEFT_OF_LEASE: Duration = Duration::from_secs(12);

/// When an instance of this process's drills was disturbed, or leases were ended.
static DISRUPTIONS: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

/// Notes that leases may lose their holders now, or end.
pub(crate) fn note_disruption() {
    let mut disruptions = DISRUPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    disruptions.push(Instant::now());
}

/// Fails when two attempts of one delivery overlap without a reason. `retried` are the events that have
/// a failed attempt on record, after which another one is due.
pub(crate) fn nothing_overlaps(received: &BTreeMap<String, Event>, retried: &BTreeSet<String>) {
    let disruptions = DISRUPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    for (id, event) in received {
        let found = overlap(&event.arrivals, &disruptions);
        let is_due = retried.contains(id);
        assert!(found.is_none() || is_due, "event {id}: {found:?}");
    }
}

/// Two attempts of which the second began while the first had its lease, though nothing happened to its
/// holder.
fn overlap<'a>(
    arrivals: &'a [Arrival],
    disruptions: &[Instant],
) -> Option<(&'a Arrival, &'a Arrival)> {
    let pairs = arrivals.iter().enumerate().flat_map(|(place, first)| {
        let later = arrivals.iter().skip(place + 1);
        later.map(move |second| (first, second))
    });
    let mut of_one_endpoint = pairs.filter(|(first, second)| first.endpoint == second.endpoint);
    of_one_endpoint.find(|(first, second)| {
        let until = first.ended.max(first.began + LEFT_OF_LEASE);
        let is_disturbed = |at: &Instant| (first.began..=second.began).contains(at);
        second.began < until && !disruptions.iter().any(is_disturbed)
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
    assert!(overlap(&two(50), &[]).is_some(), "both at once");
    assert!(overlap(&two(500), &[]).is_some(), "answered before");
    assert!(overlap(&two(12_000), &[]).is_none(), "the lease has ended");
    let [first, second] = two(500);
    let other = arrival("/b", after(50), 100);
    let three = [first, other, second];
    assert!(overlap(&three, &[]).is_some(), "another one between");
    assert!(overlap(&three[..2], &[]).is_none(), "of other endpoints");
}

#[test]
fn an_attempt_after_its_holder_was_disturbed_is_none_too_many() {
    let began = Instant::now();
    let after = |ms| began + Duration::from_millis(ms);
    let two = [arrival("/a", began, 100), arrival("/a", after(500), 100)];
    assert!(overlap(&two, &[after(200)]).is_none(), "between both");
    assert!(overlap(&two, &[after(600)]).is_some(), "after both");
    let before = arrival("/a", after(700), 100);
    let later = arrival("/a", after(800), 100);
    let after_it = [before, later];
    assert!(overlap(&after_it, &[after(200)]).is_some(), "before both");
}
