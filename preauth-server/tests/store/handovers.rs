//! What a commit hands over, when the caller of the commit does not wait for its end.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::operation::Actor;
use preauth_core::port::{Filter, Handover, Intake, Leased, PageRequest, Room, Viewer};
use preauth_core::value::{EndpointId, EventId};
use tokio::time::{sleep, timeout};

use crate::store::deliveries::claim_up_to;
use crate::store::fixture::Fixture;

/// Takes everything.
#[derive(Clone, Default)]
pub(crate) struct Everything(Arc<Mutex<Vec<Leased>>>);

impl Everything {
    pub(crate) fn intake(&self) -> Intake {
        Intake::new(Arc::new(self.clone()))
    }

    fn events(&self) -> BTreeSet<EventId> {
        let handed = self.0.lock().unwrap();
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
        TimeDelta::seconds(30)
    }

    fn take(self: Box<Self>, leased: Leased) {
        self.0.lock().unwrap().push(leased);
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
