//! Deliveries that commits hand over to the dispatcher of their instance.

use chrono::TimeDelta;
use preauth_core::port::{Handover, Intake, Leased, Room};
use preauth_core::value::{EndpointId, Timestamp};

use crate::defect::Defect;
use crate::history::Fact;
use crate::newer::{UNKNOWN_TYPE, is_of_newer_build};

use super::SimStore;

/// An instance's dispatcher, with its faults.
pub(super) struct Watched {
    store: SimStore,
    intake: Intake,
}

struct WatchedRoom {
    store: SimStore,
    endpoint: EndpointId,
    room: Box<dyn Room>,
}

impl Watched {
    pub(super) fn new(store: SimStore, intake: Intake) -> Self {
        Self { store, intake }
    }
}

impl Handover for Watched {
    fn reserve(&self, endpoint: EndpointId) -> Option<Box<dyn Room>> {
        let faults = &self.store.database.faults;
        if faults.hits(faults.mix().finds_no_room) {
            return None;
        }
        let room = self.intake.reserve(endpoint)?;
        Some(Box::new(WatchedRoom {
            store: self.store.clone(),
            endpoint,
            room,
        }))
    }
}

impl Room for WatchedRoom {
    fn lease(&self) -> TimeDelta {
        if self.store.database.has(Defect::EndlessLease) {
            return TimeDelta::days(3650);
        }
        self.room.lease()
    }

    fn now(&self) -> Timestamp {
        self.room.now()
    }

    fn take(self: Box<Self>, mut leased: Leased) {
        let Self {
            store,
            endpoint,
            room,
        } = *self;
        let database = &store.database;
        database.chronicle.note(Fact::Claimed {
            instance: store.instance,
            delivery: leased.delivery,
            token: leased.token,
            event: leased.event,
            endpoint,
        });
        if is_of_newer_build(leased.event) {
            UNKNOWN_TYPE.clone_into(&mut leased.event_type);
        }
        if database.has(Defect::FencingIgnored) {
            let mut newest = database.newest.lock().unwrap();
            newest.insert(leased.delivery, leased.token);
        }
        let delivery = leased.delivery;
        if database.has(Defect::HandedOverWithoutLease) {
            let (ground, leased) = (store.ground(), leased.clone());
            tokio::spawn(async move { ground.outbox.release(&leased).await });
        }
        // As if the process had ended before.
        let is_lost = database.faults.hits(database.faults.mix().loses_handover);
        database
            .chronicle
            .note(Fact::HandedOver { delivery, is_lost });
        if !is_lost {
            room.take(leased);
        }
    }
}
