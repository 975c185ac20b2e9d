//! Ends of attempts whose delivery or endpoint somebody holds.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::port::{Claim, Leased};

use crate::store::deliveries::{deliver, try_to_deliver};
use crate::store::fixture::Fixture;

use super::{Holder, ROUNDS, goes_on_beside, one_waits};

/// Attempts at other endpoints in one round.
const ATTEMPTS_BESIDE: usize = 3;

/// Attempts at one endpoint end while a row of another's is locked.
async fn attempts_end_beside(what: impl Fn(&Leased) -> String) {
    let fixture = Arc::new(Fixture::new().await);
    let (held, other) = (fixture.payer().await, fixture.payer().await);
    for company in [held, other] {
        fixture.add_endpoint(company).await;
    }
    fixture.offer(held).await;
    for _ in 0..ROUNDS * ATTEMPTS_BESIDE {
        fixture.offer(other).await;
    }
    let claim = Claim {
        now: fixture.now,
        lease: TimeDelta::minutes(5),
        limit: 20,
        slow_limit: 20,
        per_endpoint: NonZeroU32::new(20).unwrap(),
        per_slow_endpoint: NonZeroU32::new(20).unwrap(),
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::new(20).unwrap(),
    };
    let mut leased = fixture.stores.outbox.claim(&claim).await.unwrap().leased;
    assert_eq!(leased.len(), 1 + ROUNDS * ATTEMPTS_BESIDE);
    let endpoint = fixture.directory().endpoint(held).await.unwrap();
    let endpoint = endpoint.unwrap().id;
    let of_held = leased.iter().position(|it| it.endpoint == endpoint);
    let of_held = leased.remove(of_held.unwrap());
    let holder = Holder::of(&fixture, &what(&of_held)).await;
    let of_held = Arc::new(of_held);
    let begin = || {
        let (fixture, of_held) = (Arc::clone(&fixture), Arc::clone(&of_held));
        vec![tokio::spawn(async move {
            try_to_deliver(&fixture, &of_held, fixture.now).await
        })]
    };
    // Each attempt ends once: a further round has others.
    let round = Cell::new(0);
    let beside = async || {
        one_waits(&fixture).await;
        let first = round.replace(round.get() + 1) * ATTEMPTS_BESIDE;
        assert!(first + ATTEMPTS_BESIDE <= leased.len(), "attempts are left");
        for leased in leased.iter().skip(first).take(ATTEMPTS_BESIDE) {
            deliver(&fixture, leased, fixture.now).await;
        }
    };
    let ended = goes_on_beside(holder, begin, beside).await;
    assert_eq!(ended, [true]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_endpoint_delays_the_ends_of_its_own_attempts_and_no_others() {
    attempts_end_beside(|leased| {
        let id = leased.endpoint.as_uuid();
        format!("SELECT 1 FROM endpoints WHERE id = '{id}' FOR UPDATE")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_delivery_delays_the_end_of_its_own_attempt_and_no_others() {
    attempts_end_beside(|leased| {
        let id = leased.delivery.as_uuid();
        format!("SELECT 1 FROM deliveries WHERE id = '{id}' FOR UPDATE")
    })
    .await;
}
