//! The database as one instance reaches it: every call passes the fault point, what is
//! written is noted, and a planted defect bends it.

mod archive;
mod defective;
mod outbox;
mod queries;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, RwLock as PlainLock};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::{DeliveryId, EndpointId, OperationId};
use tokio::sync::{Notify, RwLock};
use tokio::time::Instant;

use crate::clock::SimClock;
use crate::defect::Defect;
use crate::faults::{Call, Fault, Faults};
use crate::ground::Ground;
use crate::history::{Chronicle, Fact};
use crate::receivers::Receivers;
use crate::scene::Scene;

/// How far ids are moved on after a promotion: more than were reserved and not committed.
const SKIPPED_IDS: i64 = 1_000;

/// The database of a run, which survives everything.
#[derive(Debug)]
pub(crate) struct Database {
    /// As each instance reaches it.
    grounds: PlainLock<Vec<Ground>>,
    /// How often a standby was promoted: connections do not outlive that.
    promotions: AtomicU32,
    /// Until when nobody reaches the new primary.
    is_down_until: Mutex<Option<Instant>>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) chronicle: Chronicle,
    pub(crate) defect: Option<Defect>,
    pub(crate) receivers: Arc<Receivers>,
    /// The newest lease of each delivery, for the defect that ignores leases.
    newest: Mutex<BTreeMap<DeliveryId, i64>>,
    /// Held by whoever pauses, shared by whoever claims: the note of the one stands before
    /// the other.
    pausing: RwLock<()>,
    /// What every commit passes, for the defect that waits there.
    lane: RwLock<()>,
    rotations: AtomicU32,
    paused: Mutex<BTreeSet<EndpointId>>,
    /// Operations that somebody tried to commit, for the defect that takes ids anew.
    begun: Mutex<BTreeSet<OperationId>>,
}

/// One instance's connection to the database.
#[derive(Clone, Debug)]
pub(crate) struct SimStore {
    database: Arc<Database>,
    instance: usize,
    /// The instance's own dispatcher.
    wake: Arc<Notify>,
}

impl Database {
    pub(crate) fn new(
        grounds: Vec<Ground>,
        faults: Arc<Faults>,
        chronicle: Chronicle,
        defect: Option<Defect>,
        receivers: Arc<Receivers>,
    ) -> Self {
        Self {
            grounds: PlainLock::new(grounds),
            promotions: AtomicU32::new(0),
            is_down_until: Mutex::default(),
            faults,
            chronicle,
            defect,
            receivers,
            newest: Mutex::default(),
            pausing: RwLock::default(),
            lane: RwLock::default(),
            rotations: AtomicU32::new(0),
            paused: Mutex::default(),
            begun: Mutex::default(),
        }
    }

    /// The database as nobody in particular reaches it.
    pub(crate) fn ground(&self) -> Ground {
        self.ground_of(0)
    }

    fn ground_of(&self, instance: usize) -> Ground {
        self.grounds.read().unwrap()[instance].clone()
    }

    /// Promotes a standby that has everything that was committed: all connections break, and what
    /// was under way on them is not done.
    pub(crate) fn promote(&self, down_ms: u64) {
        let skipped = if self.has(Defect::IdsGivenTwice) {
            0
        } else {
            SKIPPED_IDS
        };
        let Some(promoted) = self.ground().desk.promoted(skipped) else {
            return;
        };
        let stays_behind = |instance| instance > 0 && self.has(Defect::OldPrimaryWritten);
        let mut grounds = self.grounds.write().unwrap();
        for (instance, ground) in grounds.iter_mut().enumerate() {
            if !stays_behind(instance) {
                *ground = promoted.clone();
            }
        }
        drop(grounds);
        self.promotions.fetch_add(1, Ordering::Relaxed);
        let until = Instant::now() + Duration::from_millis(down_ms);
        *self.is_down_until.lock().unwrap() = Some(until);
        self.chronicle.note(Fact::Promoted);
    }

    /// Which primary a connection leads to that is made now.
    fn connection(&self) -> u32 {
        self.promotions.load(Ordering::Relaxed)
    }

    /// Whether a connection has ended, or cannot be made.
    fn is_cut_off(&self, connection: u32) -> bool {
        let is_down = || {
            let until = *self.is_down_until.lock().unwrap();
            until.is_some_and(|until| Instant::now() < until) && !self.faults.are_over()
        };
        self.connection() != connection || is_down()
    }

    pub(crate) async fn pause(&self, endpoint: EndpointId) {
        let _alone = self.pausing.write().await;
        let at = self.chronicle.now();
        self.ground().desk.pause(endpoint, at).await;
        self.note_paused(endpoint);
    }

    pub(crate) async fn resume(&self, endpoint: EndpointId) {
        let _alone = self.pausing.write().await;
        if self.paused.lock().unwrap().remove(&endpoint) {
            // Noted before, so that nobody is blamed who claims in between.
            self.chronicle.note(Fact::Resumed(endpoint));
            let at = self.chronicle.now();
            self.ground().desk.resume(endpoint, at).await;
        }
    }

    /// Gives an endpoint a new secret; the others end after `overlap`.
    pub(crate) async fn rotate(&self, scene: &Scene, endpoint: EndpointId, overlap: TimeDelta) {
        let number = self.rotations.fetch_add(1, Ordering::Relaxed);
        let secret = format!("whsec_c2ltdWxhdGlvbi1vbmx5LXNlY3JldC{number:04}");
        let at = self.chronicle.now();
        let others_until = at.saturating_add(overlap);
        let letterboxes = &self.receivers.letterboxes;
        letterboxes.rotate(endpoint, &secret, others_until);
        self.chronicle.note(Fact::Rotated(endpoint, others_until));
        let sealed = scene.sealed(endpoint, &secret);
        let desk = self.ground().desk;
        if !self.has(Defect::RotationForgotten) {
            desk.rotate(endpoint, sealed, at, others_until).await;
        }
    }

    /// Gives an endpoint a new address.
    pub(crate) async fn move_to(&self, endpoint: EndpointId, url: String) {
        self.receivers.letterboxes.move_to(endpoint, &url);
        self.chronicle.note(Fact::Moved(endpoint));
        self.ground().desk.move_to(endpoint, url).await;
    }

    /// Lets the clock of everybody jump, the database's included.
    pub(crate) async fn jump(&self, clock: &SimClock, by: TimeDelta) {
        self.chronicle.note(Fact::Jumped(by));
        clock.jump(by);
        self.receivers.letterboxes.jump();
        self.ground().desk.advance_leases(by).await;
    }

    fn note_paused(&self, endpoint: EndpointId) {
        self.paused.lock().unwrap().insert(endpoint);
        self.chronicle.note(Fact::Paused(endpoint));
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }
}

impl SimStore {
    /// The database as this instance reaches it.
    fn ground(&self) -> Ground {
        self.database.ground_of(self.instance)
    }

    pub(crate) fn new(database: Arc<Database>, instance: usize, wake: Arc<Notify>) -> Self {
        Self {
            database,
            instance,
            wake,
        }
    }

    /// A call that is either done and answered, or not available.
    async fn call<T>(
        &self,
        call: Call,
        work: impl Future<Output = Result<T, Unavailable>>,
    ) -> Result<T, Unavailable> {
        let faults = &self.database.faults;
        let connection = self.database.connection();
        let fault = faults.meet(self.instance, call).await;
        if fault == Some(Fault::Fails) || self.database.is_cut_off(connection) {
            return Err(unavailable());
        }
        let done = work.await;
        faults.leave(self.instance, fault).await;
        if fault == Some(Fault::LosesAnswer) {
            return Err(unavailable());
        }
        done
    }
}

/// The database goes on with what it was sent, also when the instance dies that sent it.
async fn outliving<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    tokio::spawn(work).await.unwrap()
}

fn unavailable() -> Unavailable {
    Unavailable { cause: lost() }
}

fn lost() -> Box<dyn std::error::Error + Send + Sync> {
    "connection lost".into()
}
