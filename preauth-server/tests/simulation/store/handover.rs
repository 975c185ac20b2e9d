//! Deliveries that commits hand over to the dispatcher of their instance.

use chrono::TimeDelta;
use preauth_core::port::{Handover, Intake, Leased, Room};
use preauth_core::value::{EndpointId, Timestamp};
use preauth_server::dispatcher::Limits;

use crate::defect::Defect;
use crate::history::{Chronicle, Fact};
use crate::newer::{UNKNOWN_TYPE, is_of_newer_build};

use super::SimStore;

/// An instance's dispatcher, with its faults.
pub(super) struct Watched {
    store: SimStore,
    intake: Intake,
}

/// Room in a dispatcher that has none, for the defect that ignores it.
struct NoRoom(Chronicle);

impl Room for NoRoom {
    fn lease(&self) -> TimeDelta {
        Limits::default().lease
    }

    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn take(self: Box<Self>, _: Leased) {}
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
        let (database, process) = (&self.store.database, self.store.process);
        let no_room = |is_planned| {
            database.chronicle.note(Fact::FoundNoRoom {
                process,
                endpoint,
                is_planned,
            });
            None
        };
        if database.faults.hits(database.faults.mix().finds_no_room) {
            // The dispatcher does not know of it.
            return no_room(!database.has(Defect::WaitingPassed));
        }
        let room: Box<dyn Room> = match self.intake.reserve(endpoint) {
            Some(room) => room,
            None if database.has(Defect::HandedOverBeyondRoom) => {
                Box::new(NoRoom(database.chronicle.clone()))
            }
            None => return no_room(false),
        };
        let found = Fact::FoundRoom { process, endpoint };
        database.chronicle.note(found);
        Some(Box::new(WatchedRoom {
            store: self.store.clone(),
            endpoint,
            room,
        }))
    }
}

impl Room for WatchedRoom {
    fn lease(&self) -> TimeDelta {
        let is_endless = [Defect::EndlessLease, Defect::HandoverLostForGood];
        if is_endless.iter().any(|it| self.store.database.has(*it)) {
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
        let is_lost = database.faults.loses_handover();
        database.chronicle.note(Fact::HandedOver {
            instance: store.instance,
            endpoint,
            delivery,
            is_lost,
        });
        if !is_lost {
            room.take(leased);
        }
    }
}
