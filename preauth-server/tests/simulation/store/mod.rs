//! The host in memory as one instance reaches it: every call passes the fault point, what is
//! written is noted, and a planted defect bends it.

mod defective;
mod outbox;
mod queries;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use preauth_core::memory::MemoryStore;
use preauth_core::port::Unavailable;
use preauth_core::value::{DeliveryId, EndpointId};
use tokio::sync::Notify;

use crate::defect::Defect;
use crate::faults::{Call, Fault, Faults};
use crate::history::{Chronicle, Fact};
use crate::receivers::Receivers;

/// The database of a run, which survives everything.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) memory: Arc<MemoryStore>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) chronicle: Chronicle,
    pub(crate) defect: Option<Defect>,
    pub(crate) receivers: Arc<Receivers>,
    /// The newest lease of each delivery, for the defect that ignores leases.
    newest: Mutex<BTreeMap<DeliveryId, i64>>,
    paused: Mutex<BTreeSet<EndpointId>>,
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
        memory: Arc<MemoryStore>,
        faults: Arc<Faults>,
        chronicle: Chronicle,
        defect: Option<Defect>,
        receivers: Arc<Receivers>,
    ) -> Self {
        Self {
            memory,
            faults,
            chronicle,
            defect,
            receivers,
            newest: Mutex::default(),
            paused: Mutex::default(),
        }
    }

    pub(crate) fn pause(&self, endpoint: EndpointId) {
        self.memory.pause_endpoint(endpoint);
        self.note_paused(endpoint);
    }

    pub(crate) fn resume(&self, endpoint: EndpointId) {
        if self.paused.lock().unwrap().remove(&endpoint) {
            self.memory.resume_endpoint(endpoint);
            self.chronicle.note(Fact::Resumed(endpoint));
        }
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
        let fault = faults.meet(self.instance, call).await;
        if fault == Some(Fault::Fails) {
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

fn unavailable() -> Unavailable {
    Unavailable { cause: lost() }
}

fn lost() -> Box<dyn std::error::Error + Send + Sync> {
    "connection lost".into()
}
