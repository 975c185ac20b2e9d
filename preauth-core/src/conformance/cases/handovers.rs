//! Deliveries that their commit leases and hands over.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use chrono::TimeDelta;

use crate::conformance::post::{LEASE, delivery_of};
use crate::conformance::scene::{Scene, target_of};
use crate::conformance::{Host, draft};
use crate::delivery::SLOW_ATTEMPT;
use crate::memory::DeliveryStatus;
use crate::port::{Commit, CommitError, Handover, Intake, Leased, Room, Trigger, Verdict};
use crate::value::{EndpointId, Timestamp};

/// A handed over delivery is complete, as from a claim, and no claim returns it until the lease ends.
pub async fn a_commit_hands_over_what_finds_room(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let suppliers = scene.endpoint(scene.supplier.id).await;
    let (desk, intake) = Desk::with_room_for([payers, suppliers]);
    let commit = opening(&scene, &intake).await;
    let event = commit.event.clone();
    host.store().commit(commit).await.unwrap();
    let handed = desk.handed();
    let endpoints: BTreeSet<_> = handed.iter().map(|leased| leased.endpoint).collect();
    assert_eq!(endpoints, BTreeSet::from([payers, suppliers]));
    assert_eq!(desk.given_back(), 0);
    assert!(
        scene
            .claim_at(scene.later(TimeDelta::days(1)))
            .await
            .is_empty()
    );
    assert_eq!(scene.next_due().await, None);
    assert_ne!(handed[0].token, handed[1].token);
    for leased in &handed {
        assert_eq!(
            (
                leased.event,
                leased.event_type.as_str(),
                leased.body.as_str()
            ),
            (event.id, event.event_type.as_str(), event.body.as_str())
        );
        let url = format!("https://receiver.example/{}", leased.endpoint);
        assert_eq!(leased.url, url);
        assert_eq!(leased.sealed_secrets, [vec![0, 1, 2, 0xFE, 0xFF]]);
        assert_eq!(
            (leased.attempts_made, leased.trigger),
            (0, Trigger::Schedule)
        );
        assert!(!leased.endpoint_is_slow);
        assert_eq!(
            leased.endpoint_healthy_at,
            scene.earlier(TimeDelta::days(1))
        );
        assert!(scene.finish(leased, Verdict::Delivered).await);
    }
    let deliveries = host.deliveries(event.id).await;
    assert!(
        deliveries
            .iter()
            .all(|it| it.status == DeliveryStatus::Delivered)
    );
}

/// A delivery without room is due at once; others of the same commit are handed over.
pub async fn a_delivery_without_room_waits_for_a_claim(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let suppliers = scene.endpoint(scene.supplier.id).await;
    let (desk, intake) = Desk::with_room_for([suppliers]);
    host.store()
        .commit(opening(&scene, &intake).await)
        .await
        .unwrap();
    let handed = desk.handed();
    assert_eq!(handed.len(), 1);
    assert_eq!(handed[0].endpoint, suppliers);
    assert_eq!(scene.claim_one().await.endpoint, payers);
}

/// Deliveries to a paused or slow endpoint are not handed over, and the room is given back.
pub async fn a_paused_or_slow_endpoint_is_handed_nothing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let suppliers = scene.endpoint(scene.supplier.id).await;
    scene.post().await;
    for leased in scene.claim_at(scene.now).await {
        if leased.endpoint == payers {
            scene.refuse_after(&leased, SLOW_ATTEMPT).await;
        }
    }
    host.pause_endpoint(suppliers).await;
    let (desk, intake) = Desk::with_room_for([payers, suppliers]);
    let commit = opening(&scene, &intake).await;
    let event = commit.event.id;
    host.store().commit(commit).await.unwrap();
    assert_eq!(desk.handed(), []);
    assert_eq!(desk.given_back(), desk.reserved());
    let claimed = scene.claim_at(scene.now).await;
    assert!(claimed.iter().all(|leased| leased.endpoint == payers));
    assert!(claimed.iter().any(|leased| leased.event == event));
}

/// A commit that writes nothing hands nothing over.
pub async fn a_refused_commit_hands_nothing_over(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let (desk, intake) = Desk::with_room_for([payers]);
    let commit = opening(&scene, &intake).await;
    host.store().commit(commit.clone()).await.unwrap();
    assert_eq!(desk.handed().len(), 1);
    let refused = host.store().commit(commit).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(desk.handed(), []);
    assert_eq!(desk.given_back() + 1, desk.reserved());
}

/// A worker that took a delivery over and stalls loses it, like any holder of a lease.
pub async fn a_delivery_handed_over_and_lost_is_leased_again(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let (desk, intake) = Desk::with_room_for([payers]);
    let commit = opening(&scene, &intake).await;
    let event = commit.event.id;
    host.store().commit(commit).await.unwrap();
    let stalled = desk.handed().remove(0);
    host.advance_lease_clock(LEASE - TimeDelta::seconds(10))
        .await;
    assert!(scene.claim_at(scene.now).await.is_empty());
    host.advance_lease_clock(TimeDelta::seconds(11)).await;
    let newer = scene.claim_one().await;
    assert_eq!(newer.delivery, stalled.delivery);
    assert!(!scene.finish(&stalled, Verdict::Delivered).await);
    assert!(scene.finish(&newer, Verdict::Delivered).await);
    assert_eq!(delivery_of(host, event).await.attempts.len(), 1);
}

/// Commits that are written together hand over the same deliveries as each would alone.
pub async fn commits_together_hand_over_like_one_alone(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let (desk, intake) = Desk::with_room_for([payers]);
    let mut commits = vec![opening(&scene, &intake).await];
    commits.push(opening(&scene, &Intake::default()).await);
    commits.push(commits[0].clone());
    commits.push(opening(&scene, &intake).await);
    let events: BTreeSet<_> = [&commits[0], &commits[3]].map(|it| it.event.id).into();
    let waits = commits[1].event.id;
    let outcomes = host.store().commit_all(commits).await;
    let are_done: Vec<_> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(are_done, [true, true, false, true]);
    let handed: BTreeSet<_> = desk.handed().iter().map(|leased| leased.event).collect();
    assert_eq!(handed, events);
    assert_eq!(scene.claim_one().await.event, waits);
}

/// The commit of a new offer.
async fn opening(scene: &Scene<'_>, intake: &Intake) -> Commit {
    let offer = scene.offer();
    let loaded = scene.host.store().load_offer(&target_of(&offer)).await;
    let loaded = loaded.unwrap().unwrap();
    let mut commit = draft::opening(scene, &offer, &loaded, None, scene.now);
    commit.intake = intake.clone();
    commit
}

/// An intake with room for any number of deliveries to some endpoints.
#[derive(Clone)]
struct Desk {
    endpoints: BTreeSet<EndpointId>,
    log: Arc<Mutex<Log>>,
}

#[derive(Default)]
struct Log {
    handed: Vec<Leased>,
    reserved: usize,
    given_back: usize,
}

/// Room that counts how it ends.
struct Counted {
    log: Arc<Mutex<Log>>,
    is_taken: bool,
}

impl Desk {
    fn with_room_for<const N: usize>(endpoints: [EndpointId; N]) -> (Self, Intake) {
        let desk = Self {
            endpoints: endpoints.into(),
            log: Arc::default(),
        };
        (desk.clone(), Intake::new(Arc::new(desk)))
    }

    /// The deliveries handed over since the last call, in the order of their leases.
    fn handed(&self) -> Vec<Leased> {
        let mut handed = std::mem::take(&mut self.log.lock().unwrap().handed);
        handed.sort_by_key(|leased| leased.token);
        handed
    }

    fn reserved(&self) -> usize {
        self.log.lock().unwrap().reserved
    }

    fn given_back(&self) -> usize {
        self.log.lock().unwrap().given_back
    }
}

impl Handover for Desk {
    fn reserve(&self, endpoint: EndpointId) -> Option<Box<dyn Room>> {
        if !self.endpoints.contains(&endpoint) {
            return None;
        }
        self.log.lock().unwrap().reserved += 1;
        Some(Box::new(Counted {
            log: Arc::clone(&self.log),
            is_taken: false,
        }))
    }
}

impl Room for Counted {
    fn lease(&self) -> TimeDelta {
        LEASE
    }

    fn now(&self) -> Timestamp {
        Timestamp::MIN
    }

    fn take(mut self: Box<Self>, leased: Leased) {
        self.is_taken = true;
        self.log.lock().unwrap().handed.push(leased);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if !self.is_taken {
            self.log.lock().unwrap().given_back += 1;
        }
    }
}
