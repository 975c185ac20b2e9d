//! One run: all participants, from the first call to the check.

mod cluster;
mod ending;
mod silence;

use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use preauth_core::Policy;
use tokio::sync::mpsc;

use crate::actors;
use crate::checker::{self, Violation};
use crate::clock::SimClock;
use crate::defect::Defect;
use crate::faults::{Call, Faults, Planned};
use crate::ground::Kind;
use crate::history::{Chronicle, Entry, hash_of};
use crate::machine::Machine;
use crate::mix::{Mix, Rates};
use crate::random::{Random, SeededIds, SharedRandom};
use crate::receivers::Receivers;
use crate::scene::Scene;
use crate::store::Database;

pub(crate) use cluster::{Cluster, INSTANCES};

/// The input of a run: the same plan gives the same run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) defect: Option<Defect>,
    /// The only fault; without it the seed decides.
    pub(crate) only: Option<Planned>,
    pub(crate) rates: Rates,
    pub(crate) ground: Kind,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) seed: u64,
    pub(crate) mix: Mix,
    pub(crate) violations: Vec<Violation>,
    pub(crate) history: Vec<Entry>,
    /// The calls that met the fault point before the quiet period, in order.
    pub(crate) calls: Vec<Call>,
    trace: u64,
}

impl Plan {
    /// Faults by the seed.
    pub(crate) const fn of_seed(seed: u64) -> Self {
        Self {
            seed,
            defect: None,
            only: None,
            rates: Rates::OfSeed,
            ground: Kind::Memory,
        }
    }

    /// The workload of a seed, with one fault or none.
    pub(crate) const fn of_campaign(seed: u64, only: Option<Planned>) -> Self {
        Self {
            seed,
            defect: None,
            only,
            rates: Rates::None,
            ground: Kind::Memory,
        }
    }

    /// Runs it on its own runtime, whose clock advances only when every task waits.
    pub(crate) fn run(&self) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(self.play())
    }

    async fn play(&self) -> Outcome {
        let mut random = Random::new(self.seed);
        let mix = match self.rates {
            Rates::OfSeed => Mix::drawn(&mut random.fork()),
            Rates::ManyLate => Mix::with_many_late(&mut random.fork()),
            Rates::None => Mix::calm(),
        };
        let (cluster, kills) = self.cluster(&mix, &mut random).await;
        tokio::spawn(Arc::clone(&cluster).supervise(kills));
        (0..INSTANCES).for_each(|number| cluster.start(number));
        actors::play(&cluster, &mut random).await;
        let faults = &cluster.database.faults;
        let calls = faults.calls();
        let end = ending::of(&cluster).await;
        let history = cluster.chronicle.take();
        Outcome {
            seed: self.seed,
            mix,
            violations: checker::check(&cluster.scene, &history, &end, self.ground.is_exact()),
            history,
            calls,
            trace: faults.trace(),
        }
    }

    async fn cluster(
        &self,
        mix: &Mix,
        random: &mut Random,
    ) -> (Arc<Cluster>, mpsc::UnboundedReceiver<usize>) {
        let clock = Arc::new(SimClock::new());
        let chronicle = Chronicle::new(Arc::clone(&clock));
        let scene = Scene::new();
        let (kill, kills) = mpsc::unbounded_channel();
        let faults = Arc::new(Faults::new(
            mix.clone(),
            self.only,
            random.fork(),
            Arc::clone(&clock),
            chronicle.clone(),
            kill,
        ));
        let receivers = Arc::new(Receivers::new(scene.clone(), chronicle.clone()));
        let database = Arc::new(Database::new(
            self.ground
                .prepare(&scene, &clock, INSTANCES, self.defect)
                .await,
            faults,
            chronicle.clone(),
            self.defect,
            Arc::clone(&receivers),
        ));
        let offer_lifetime = if mix.mails.offers_last && self.ground != Kind::Memory {
            TimeDelta::days(3)
        } else {
            TimeDelta::milliseconds(i64::try_from(mix.offer_lifetime_ms).unwrap())
        };
        let cluster = Cluster {
            database,
            clock: Arc::clone(&clock),
            chronicle,
            scene,
            policy: Policy {
                offer_lifetime,
                ..Policy::default()
            },
            ids: Arc::new(SeededIds::new(random.fork())),
            receivers,
            random: SharedRandom::new(random.fork()),
            machines: std::array::from_fn(|_| Arc::new(Machine::new(Arc::clone(&clock)))),
            slots: Mutex::default(),
            cursors: actors::Cursors::default(),
        };
        (Arc::new(cluster), kills)
    }
}

impl Outcome {
    /// Equal for two runs of one plan.
    pub(crate) fn trace(&self) -> u64 {
        self.trace ^ hash_of(&self.history).rotate_left(1)
    }
}
