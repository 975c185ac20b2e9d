//! The database as one instance reaches it: every call passes the fault point, every write is
//! recorded, and a planted defect alters it.

mod archive;
mod defective;
mod handover;
mod housekeeping;
mod lane;
mod late;
mod mails;
mod outbox;
mod queries;
mod register;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock as PlainLock};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::{DeliveryId, EndpointId, MailId, OperationId};
use preauth_server::mail::LeasedMail;
use tokio::sync::{Notify, RwLock};
use tokio::time::Instant;

use crate::clock::SimClock;
use crate::defect::Defect;
use crate::faults::{Call, Fault, Faults};
use crate::ground::Ground;
use crate::history::{Chronicle, Fact};
use crate::receivers::Receivers;
use crate::scene::Scene;

use lane::Lane;
use late::LateWrites;

pub(crate) use mails::SimMails;

/// The gap in ids after a promotion: larger than the number of reserved, uncommitted ids.
const SKIPPED_IDS: i64 = 1_000;

/// The database of a run, which survives its instances.
#[derive(Debug)]
pub(crate) struct Database {
    /// The connections of each instance.
    grounds: PlainLock<Vec<Ground>>,
    /// The number of promotions: connections do not survive one.
    promotions: AtomicU32,
    /// The number of processes that have begun.
    processes: AtomicU64,
    /// Until when the new primary is unreachable.
    is_down_until: Mutex<Option<Instant>>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) chronicle: Chronicle,
    pub(crate) defect: Option<Defect>,
    pub(crate) receivers: Arc<Receivers>,
    /// The newest lease of each delivery, for the defect that ignores leases.
    newest: Mutex<BTreeMap<DeliveryId, i64>>,
    /// Held exclusively by a pause, shared by claims: so their records in the history are ordered.
    pausing: RwLock<()>,
    commits: Lane,
    claims: Lane,
    outcomes: Lane,
    records: Lane,
    late: LateWrites,
    rotations: AtomicU32,
    paused: Mutex<BTreeSet<EndpointId>>,
    /// The mails that were leased, for the defect that sends them when their offers are closed.
    mails: Mutex<BTreeMap<MailId, Box<LeasedMail>>>,
    /// Operations with an attempted commit, for the defect that takes new ids.
    begun: Mutex<BTreeSet<OperationId>>,
}

/// One instance's connection to the database.
#[derive(Clone, Debug)]
pub(crate) struct SimStore {
    database: Arc<Database>,
    instance: usize,
    /// Its number among all processes of the run.
    process: u64,
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
            processes: AtomicU64::new(0),
            is_down_until: Mutex::default(),
            faults,
            chronicle,
            defect,
            receivers,
            newest: Mutex::default(),
            pausing: RwLock::default(),
            commits: Lane::of("a commit"),
            claims: Lane::of("a claim"),
            outcomes: Lane::of("the outcome of an attempt"),
            records: Lane::of("a write of the platform"),
            late: LateWrites::default(),
            rotations: AtomicU32::new(0),
            paused: Mutex::default(),
            mails: Mutex::default(),
            begun: Mutex::default(),
        }
    }

    /// The database, independent of any instance.
    pub(crate) fn ground(&self) -> Ground {
        self.ground_of(0)
    }

    fn ground_of(&self, instance: usize) -> Ground {
        self.grounds.read().unwrap()[instance].clone()
    }

    /// Promotes a standby that has every commit: all connections break, and work in progress on
    /// them is not done.
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

    /// The primary that a new connection leads to.
    fn connection(&self) -> u32 {
        self.promotions.load(Ordering::Relaxed)
    }

    /// Whether a connection is broken, or cannot be made.
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
            // Recorded first, so that a concurrent claim is no violation.
            self.chronicle.note(Fact::Resumed(endpoint));
            let at = self.chronicle.now();
            self.ground().desk.resume(endpoint, at).await;
        }
    }

    /// Rotates an endpoint's secret; the others end after `overlap`.
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

    /// Makes all clocks jump, the database's included.
    pub(crate) async fn jump(&self, clock: &SimClock, by: TimeDelta) {
        self.chronicle.note(Fact::Jumped(by));
        clock.jump(by);
        self.receivers.letterboxes.jump();
        self.ground().desk.advance_leases(by).await;
        self.chronicle.note(Fact::LeasesAdvanced);
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
    /// The connection of this instance.
    fn ground(&self) -> Ground {
        self.database.ground_of(self.instance)
    }

    pub(crate) fn new(database: Arc<Database>, instance: usize, wake: Arc<Notify>) -> Self {
        let process = database.processes.fetch_add(1, Ordering::Relaxed);
        Self {
            database,
            instance,
            process,
            wake,
        }
    }

    /// Begins work that waits for no lock of others.
    async fn pass(&self, lane: &Lane) {
        if let Some(broken) = lane.pass().await {
            self.database.chronicle.note(broken);
        }
    }

    /// A call that is either done and answered, or unavailable.
    async fn call<T>(
        &self,
        call: Call,
        work: impl Future<Output = Result<T, Unavailable>>,
    ) -> Result<T, Unavailable> {
        self.call_on_rows(call, |_| work).await
    }

    /// The same with work that is given whether somebody has locked a row that it needs.
    async fn call_on_rows<T, W>(
        &self,
        call: Call,
        work: impl FnOnce(bool) -> W,
    ) -> Result<T, Unavailable>
    where
        W: Future<Output = Result<T, Unavailable>>,
    {
        let faults = &self.database.faults;
        let connection = self.database.connection();
        let fault = faults.meet(self.instance, call).await;
        if fault == Some(Fault::Fails) || self.database.is_cut_off(connection) {
            return Err(unavailable());
        }
        let done = work(fault == Some(Fault::StaysLocked)).await;
        faults.leave(self.instance, fault).await;
        if fault == Some(Fault::LosesAnswer) {
            return Err(unavailable());
        }
        done
    }
}

/// The database continues with work it has received, even if the sending instance dies.
async fn outliving<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    tokio::spawn(work).await.unwrap()
}

fn unavailable() -> Unavailable {
    Unavailable { cause: lost() }
}

fn lost() -> Box<dyn std::error::Error + Send + Sync> {
    "connection lost".into()
}
