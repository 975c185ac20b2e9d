//! The instances of the service on one database: started, called, stopped, killed.
//!
//! An instance is a set of tasks. Killing it aborts them at any point; only the database and the
//! receivers keep their state.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use preauth_core::Policy;
use preauth_core::service::Operations;
use preauth_core::value::Timestamp;
use preauth_server::clock::{Clock, ServingClock};
use preauth_server::dispatcher::Dispatcher;
use preauth_server::hold::Hold;
use preauth_server::http::WireRender;
use preauth_server::janitor::{Janitor, Retention};
use preauth_server::mail::MailSender;
use preauth_server::sweeper::Sweeper;
use preauth_server::worker::{ShutdownTrigger, shutdown};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{AbortHandle, JoinHandle};

use crate::actors::Cursors;
use crate::clock::{SimClock, sleep_ms};
use crate::defect::Defect;
use crate::history::{Chronicle, Fact};
use crate::machine::Machine;
use crate::mail_server;
use crate::random::{SeededIds, SharedRandom};
use crate::receivers::{Receivers, SimSender};
use crate::scene::Scene;
use crate::store::{Database, SimMails, SimStore};

use super::silence::Silence;

/// Instances that share the database.
pub(crate) const INSTANCES: usize = 2;
/// Client timeout of most callers.
const PATIENCE: Duration = Duration::from_secs(8);
/// Client timeout of hasty callers.
const HASTE: Duration = Duration::from_millis(40);
/// The share of hasty callers while faults occur, per thousand.
const HASTY: u64 = 60;
/// A worker that has not stopped within this time is dead.
const GRACE: Duration = Duration::from_secs(10);
/// Maximum downtime of an instance.
const MAX_PAUSE_MS: u64 = 4_000;

/// All instances and their dependencies.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) database: Arc<Database>,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) chronicle: Chronicle,
    pub(crate) scene: Scene,
    pub(crate) policy: Policy,
    pub(crate) ids: Arc<SeededIds>,
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) random: SharedRandom,
    /// The machine of each instance; it survives the instance.
    pub(crate) machines: [Arc<Machine>; INSTANCES],
    pub(crate) slots: Mutex<[Option<Instance>; INSTANCES]>,
    /// Where the readers of events stand.
    pub(crate) cursors: Cursors,
}

/// One running instance.
pub(crate) struct Instance {
    service: Arc<Operations>,
    clock: Arc<dyn Clock>,
    hold: Hold,
    shutdown: ShutdownTrigger,
    loops: Vec<JoinHandle<()>>,
    is_killed: Arc<AtomicBool>,
    /// Whether its dispatcher does nothing any more.
    is_silent: Arc<AtomicBool>,
    requests: Vec<AbortHandle>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").finish_non_exhaustive()
    }
}

impl Cluster {
    /// Starts the instance with this number, which must not be running.
    pub(crate) fn start(&self, number: usize) {
        let wake = Arc::new(Notify::new());
        let store = Arc::new(SimStore::new(
            Arc::clone(&self.database),
            number,
            Arc::clone(&wake),
        ));
        let sender = Arc::new(SimSender {
            receivers: Arc::clone(&self.receivers),
            faults: Arc::clone(&self.database.faults),
            instance: number,
        });
        let vault = self.scene.vault.clone();
        let machine = &self.machines[number];
        let watch = machine.watch();
        let has_own_clock = self.database.defect == Some(Defect::OwnClock);
        let (clock, hold): (Arc<dyn Clock>, _) = if has_own_clock {
            (Arc::<Machine>::clone(machine), Hold::default())
        } else {
            (Arc::<ServingClock>::clone(&watch.clock), watch.hold.clone())
        };
        let dispatcher = Dispatcher::new(store.clone(), sender, vault, Arc::clone(&clock), wake)
            .held_by(hold.clone());
        let retention = Retention::default();
        let janitor =
            Janitor::new(store.clone(), Arc::clone(&clock), retention).held_by(hold.clone());
        let is_killed = Arc::<AtomicBool>::default();
        let mails = SimMails::of(&store, &is_killed).map(|mails| {
            let parts = mail_server::parts(&self.database, number);
            MailSender::new(Arc::new(mails), parts, Arc::clone(&clock), Arc::default())
                .held_by(hold.clone())
        });
        let service = Operations::new(store, self.ids.clone(), Arc::new(WireRender), self.policy);
        let service = Arc::new(service.handing_over_to(dispatcher.intake()));
        let sweeper = Sweeper::new(Arc::clone(&service), Arc::clone(&clock)).held_by(hold.clone());
        let (trigger, until) = shutdown();
        let (sweeps_until, watches_until) = (until.clone(), until.clone());
        let (cleans_until, mails_until) = (until.clone(), until.clone());
        let is_silent = Arc::<AtomicBool>::default();
        let silence = Silence::drawn(&self.database);
        let (database, silent) = (Arc::clone(&self.database), Arc::clone(&is_silent));
        let mut loops = vec![
            tokio::spawn(silence.run(number, dispatcher, until, database, silent)),
            tokio::spawn(async move { sweeper.run(sweeps_until).await }),
            tokio::spawn(async move { janitor.run(cleans_until).await }),
            tokio::spawn(async move {
                // The simulated database always answers.
                let _ = watch.begin().await;
                watch.run(watches_until).await;
            }),
        ];
        loops
            .extend(mails.map(|sender| tokio::spawn(async move { sender.run(mails_until).await })));
        self.chronicle.note(Fact::Started(number));
        self.slots.lock().unwrap()[number] = Some(Instance {
            service,
            clock,
            hold,
            shutdown: trigger,
            loops,
            is_killed,
            is_silent,
            requests: Vec::new(),
        });
    }

    /// Lets a running instance serve a caller; `None` when no answer comes, or the instance is
    /// held.
    pub(crate) async fn ask<T, F>(
        &self,
        number: usize,
        work: impl FnOnce(Arc<Operations>, Timestamp) -> F,
    ) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let task = {
            let mut slots = self.slots.lock().unwrap();
            let instance = slots[number].as_mut()?;
            if instance.hold.refuses(true).is_some() {
                return None;
            }
            let now = instance.clock.now();
            let task = tokio::spawn(work(Arc::clone(&instance.service), now));
            instance.requests.retain(|request| !request.is_finished());
            instance.requests.push(task.abort_handle());
            task
        };
        let is_hasty = !self.database.faults.are_over() && self.random.draw(|it| it.chance(HASTY));
        let patience = if is_hasty { HASTE } else { PATIENCE };
        match tokio::time::timeout(patience, task).await.ok()? {
            Ok(answer) => Some(answer),
            Err(error) if error.is_panic() => {
                let broken = format!("a request panicked: {error}");
                self.chronicle.note(Fact::Broken(broken));
                None
            }
            Err(_) => None,
        }
    }

    /// Restarts an instance as a deployment does.
    pub(crate) async fn renew(&self, number: usize) {
        let taken = self.slots.lock().unwrap()[number].take();
        let Some(instance) = taken else { return };
        instance.shutdown.request();
        for task in instance.loops {
            // It may have been killed meanwhile.
            let abort = task.abort_handle();
            let ended = tokio::time::timeout(GRACE, self.end_of(task)).await;
            if ended.is_err() {
                abort.abort();
            }
        }
        self.chronicle.note(Fact::Stopped(number));
        self.start_after_a_pause(number).await;
    }

    /// Restarts the instances that do not deliver.
    pub(crate) async fn renew_silent(&self) {
        for number in 0..INSTANCES {
            let is_silent = {
                let slots = self.slots.lock().unwrap();
                let instance = slots[number].as_ref();
                instance.is_some_and(|it| it.is_silent.load(Ordering::Relaxed))
            };
            if is_silent {
                self.renew(number).await;
            }
        }
    }

    /// Kills instances on request of their fault points, and restarts them.
    pub(crate) async fn supervise(self: Arc<Self>, mut kills: UnboundedReceiver<usize>) {
        while let Some(number) = kills.recv().await {
            let taken = self.slots.lock().unwrap()[number].take();
            let Some(instance) = taken else { continue };
            instance.is_killed.store(true, Ordering::Relaxed);
            self.chronicle.note(Fact::Killed(number));
            for request in &instance.requests {
                request.abort();
            }
            for task in instance.loops {
                task.abort();
                self.end_of(task).await;
            }
            let cluster = Arc::clone(&self);
            tokio::spawn(async move { cluster.start_after_a_pause(number).await });
        }
    }

    pub(crate) fn all_run(&self) -> bool {
        self.slots.lock().unwrap().iter().all(Option::is_some)
    }

    async fn start_after_a_pause(&self, number: usize) {
        sleep_ms(self.random.draw(|it| it.between(1, MAX_PAUSE_MS))).await;
        self.start(number);
    }

    async fn end_of(&self, task: JoinHandle<()>) {
        if let Err(error) = task.await
            && error.is_panic()
        {
            let broken = format!("a loop panicked: {error}");
            self.chronicle.note(Fact::Broken(broken));
        }
    }
}
