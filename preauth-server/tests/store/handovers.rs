//! The handover of a commit whose caller does not wait for its end.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use futures_util::FutureExt;
use preauth_core::operation::Actor;
use preauth_core::port::{
    AttemptError, Filter, Handover, Intake, Leased, PageRequest, Room, Viewer,
};
use preauth_core::value::{EndpointId, EventId, Timestamp};
use preauth_server::clock::Clock;
use preauth_server::dispatcher::{Answer, Dispatcher, Limits, Request, Sender};
use preauth_server::secret::Vault;
use preauth_server::worker::shutdown;
use tokio::time::{sleep, timeout};

use crate::store::deliveries::{LEASE, claim_up_to};
use crate::store::fixture::{Fixture, secret};

/// Takes everything.
#[derive(Clone, Default)]
pub(crate) struct Everything {
    handed: Arc<Mutex<Vec<Leased>>>,
    /// The service's time, if it is later than that of the commits.
    now: Option<Timestamp>,
}

impl Everything {
    pub(crate) fn intake(&self) -> Intake {
        Intake::new(Arc::new(self.clone()))
    }

    pub(crate) fn leased(&self) -> Vec<Leased> {
        self.handed.lock().unwrap().clone()
    }

    fn events(&self) -> BTreeSet<EventId> {
        let handed = self.handed.lock().unwrap();
        handed.iter().map(|leased| leased.event).collect()
    }
}

impl Handover for Everything {
    fn reserve(&self, _endpoint: EndpointId) -> Option<Box<dyn Room>> {
        Some(Box::new(self.clone()))
    }
}

impl Room for Everything {
    fn lease(&self) -> TimeDelta {
        LEASE
    }

    fn now(&self) -> Timestamp {
        self.now.unwrap_or(Timestamp::MIN)
    }

    fn take(self: Box<Self>, leased: Leased) {
        self.handed.lock().unwrap().push(leased);
    }
}

/// A delivery that is handed over leaves nothing to find, nor does one to a paused endpoint: its resumption wakes.
pub(crate) async fn only_what_waits_wakes(fixture: &Fixture) {
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    let directory = fixture.directory();
    let waiting = fixture.stores.lifecycle.deliveries_waiting();
    for (is_paused, is_handed_over) in [(true, true), (false, true), (false, false)] {
        let set = directory.set_endpoint_paused(payer, is_paused, fixture.now);
        set.await.unwrap();
        // That of the resumption.
        while waiting.notified().now_or_never().is_some() {}
        let intake = if is_handed_over {
            Everything::default().intake()
        } else {
            Intake::default()
        };
        let service = fixture.service_handing_over_to(intake);
        let offer = fixture.new_offer(payer);
        let created = service.offer(&offer, Actor::Company, None, fixture.now);
        created.await.unwrap();
        let is_woken = waiting.notified().now_or_never().is_some();
        assert_eq!(is_woken, !is_handed_over, "paused: {is_paused}");
    }
}

/// A client that gives up may have been served: then its webhook does not wait for a lease to end.
#[tokio::test]
async fn a_delivery_is_handed_over_although_the_caller_has_gone_away() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    let everything = Everything::default();
    let service = fixture.service_handing_over_to(everything.intake());
    let mut gave_up = 0;
    for pause in 0..60 {
        let offer = fixture.new_offer(payer);
        let create = service.offer(&offer, Actor::Company, None, fixture.now);
        let patience = Duration::from_micros(200 * pause);
        gave_up += i32::from(timeout(patience, create).await.is_err());
    }
    assert!(gave_up > 0, "no caller gave up");
    // Refused by nothing: whatever was queued is written by then.
    let last = fixture.new_offer(payer);
    let created = service.offer(&last, Actor::Company, None, fixture.now);
    created.await.unwrap();
    let patience = Duration::from_secs(30);
    let all_are_handed_over = async {
        loop {
            let recorded: BTreeSet<_> = recorded(&fixture).await;
            if recorded == everything.events() {
                return recorded;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let events = timeout(patience, all_are_handed_over).await.unwrap();
    assert!(!events.is_empty());
    let claimed = claim_up_to(&fixture, fixture.now, NonZeroU32::MAX).await;
    assert_eq!(claimed, [], "none is left to a claim");
}

/// A commit may be written seconds after it was decided, and a secret may have ended by then.
#[tokio::test]
async fn a_delivery_is_handed_over_with_the_secrets_in_force_when_its_commit_is_written() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let endpoint = fixture.add_endpoint(payer).await.id;
    let (second, ends) = (secret(2), fixture.later(TimeDelta::seconds(3)));
    let directory = fixture.directory();
    let rotated = directory.rotate_secret(endpoint, &second, fixture.now, ends);
    rotated.await.unwrap();
    for (seconds, expected) in [(-1, &[2, 1][..]), (2, &[2, 1]), (3, &[2])] {
        let everything = Everything {
            now: Some(fixture.later(TimeDelta::seconds(seconds))),
            ..Everything::default()
        };
        let service = fixture.service_handing_over_to(everything.intake());
        let offer = fixture.new_offer(payer);
        let created = service.offer(&offer, Actor::Company, None, fixture.now);
        created.await.unwrap();
        let handed = everything.handed.lock().unwrap();
        let secrets: Vec<_> = handed[0].sealed_secrets.iter().map(|it| it[0]).collect();
        assert_eq!((handed.len(), &secrets[..]), (1, expected));
    }
}

/// The limit of an endpoint counts the attempts of all instances. One that others have used up holds back
/// what is due there, and new deliveries must not go ahead of it for as long as others take turns.
#[tokio::test]
async fn an_instance_hands_nothing_over_to_an_endpoint_that_others_have_filled() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let endpoint = fixture.add_endpoint(payer).await.id;
    let [one, other] = [(); 2].map(|()| idle_dispatcher(&fixture));
    let service = fixture.service_handing_over_to(one.intake());
    for _ in 0..3 {
        let offer = fixture.new_offer(payer);
        let created = service.offer(&offer, Actor::Company, None, fixture.now);
        created.await.unwrap();
    }
    assert_eq!(one.slots_in_use(), 2);
    assert!(
        other.intake().reserve(endpoint).is_some(),
        "before its claim"
    );
    assert_eq!(other.run_once().await.unwrap(), 0, "the third has no room");
    assert!(
        other.intake().reserve(endpoint).is_none(),
        "the third is first"
    );
    let (trigger, ended) = shutdown();
    trigger.request();
    one.run(ended).await;
    while other.run_once().await.unwrap() > 0 {}
    assert!(
        other.intake().reserve(endpoint).is_some(),
        "nothing is due any more"
    );
}

/// A dispatcher that is not running, with two attempts to an endpoint at most.
fn idle_dispatcher(fixture: &Fixture) -> Dispatcher {
    let two = NonZeroU32::new(2).unwrap();
    let outbox = Arc::clone(&fixture.stores.outbox);
    let (vault, wake) = (Vault::new(&[7; 32]), Arc::default());
    let clock = Arc::new(Standing(fixture.now));
    Dispatcher::new(outbox, Arc::new(Unreachable), vault, clock, wake).with_limits(Limits {
        per_endpoint: two,
        per_endpoint_when_quiet: two,
        per_endpoint_of_commits: two,
        ..Limits::default()
    })
}

struct Standing(Timestamp);

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        self.0
    }
}

struct Unreachable;

#[async_trait]
impl Sender for Unreachable {
    async fn send(&self, _request: Request) -> Result<Answer, AttemptError> {
        Err(AttemptError::Unreachable)
    }
}

async fn recorded(fixture: &Fixture) -> BTreeSet<EventId> {
    let page = PageRequest {
        page: 1,
        limit: 100,
    };
    let queries = &fixture.stores.queries;
    let listed = queries
        .list(Viewer::Platform, &Filter::default(), page)
        .await;
    let mut events = BTreeSet::new();
    for operation in listed.unwrap().operations {
        let history = queries.history(operation.id).await.unwrap();
        events.extend(history.iter().map(|entry| entry.id));
    }
    events
}
