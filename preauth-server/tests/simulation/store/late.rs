//! Writes that are applied after their answer was lost.

use std::collections::BTreeMap;
use std::sync::Mutex;

use preauth_core::port::Commit;
use preauth_core::value::{EventId, IdempotencyKey};

use crate::clock::sleep_ms;
use crate::ground::NewRecord;
use crate::history::{Deed, Fact};

use super::{Database, SimStore, outliving};

/// Most late writes land within this time, while their caller still retries.
const LATE_MS: u64 = 300;
/// The others land within this one, after the caller got its answer.
const LATEST_MS: u64 = 5_000;
/// The share of these, per thousand.
const MUCH_LATER: u64 = 300;
/// The share of those that land as soon as their caller has looked for them in vain, per thousand.
const AFTER_LOOK_UP: u64 = 300;

/// The writes that have not landed yet, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct LateWrites(Mutex<BTreeMap<u64, LateWrite>>);

#[derive(Debug)]
struct LateWrite {
    store: SimStore,
    work: Work,
    connection: u32,
    lands_after_look_up: bool,
}

/// A write that may land late.
#[derive(Debug)]
pub(super) enum Work {
    Commit(Box<Commit>),
    Record(Box<NewRecord>),
}

/// The record by which a caller learns whether its write was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    Event(EventId),
    Reply(IdempotencyKey),
}

impl SimStore {
    /// The database continues with work it has received, even if the instance died.
    pub(super) fn land_late(&self, work: Work, connection: u32) {
        let (pause, lands_after_look_up) = self.database.faults.draw(|random| {
            if random.chance(AFTER_LOOK_UP) {
                (LATEST_MS, true)
            } else if random.chance(MUCH_LATER) {
                (random.between(LATE_MS, LATEST_MS), false)
            } else {
                (random.between(1, LATE_MS), false)
            }
        });
        let late = LateWrite {
            store: self.clone(),
            work,
            connection,
            lands_after_look_up,
        };
        let (store, number) = (self.clone(), self.database.late.add(late));
        tokio::spawn(async move {
            sleep_ms(pause).await;
            let late = store.database.late.0.lock().unwrap().remove(&number);
            if let Some(late) = late {
                late.land().await;
            }
        });
    }
}

impl LateWrites {
    fn add(&self, late: LateWrite) -> u64 {
        let mut all = self.0.lock().unwrap();
        let number = all.last_key_value().map_or(0, |(number, _)| number + 1);
        all.insert(number, late);
        number
    }

    /// The next write that lands once this is looked for in vain.
    fn take(&self, trace: &Trace) -> Option<LateWrite> {
        let mut all = self.0.lock().unwrap();
        let mut waiting = all.iter();
        let (number, _) = waiting.find(|(_, late)| {
            late.lands_after_look_up && late.work.trace().as_ref() == Some(trace)
        })?;
        let number = *number;
        all.remove(&number)
    }
}

impl Database {
    /// Applies the late writes that were looked up in vain, if that is when they land: before their caller
    /// retries.
    pub(super) async fn land_after_look_up(&self, trace: &Trace) {
        while let Some(late) = self.late.take(trace) {
            outliving(late.land()).await;
        }
    }
}

impl LateWrite {
    async fn land(self) {
        let Self {
            store,
            work,
            connection,
            ..
        } = self;
        let deed = work.deed();
        // No caller is left to inform.
        let is_applied = !store.database.is_cut_off(connection)
            && match work {
                Work::Commit(commit) => store.apply(*commit).await.is_ok(),
                Work::Record(new) => store.enter(*new).await.is_ok(),
            };
        store
            .database
            .chronicle
            .note(Fact::LandedLate { deed, is_applied });
    }
}

impl Work {
    fn deed(&self) -> Deed {
        match self {
            Self::Commit(commit) => Deed::of(commit),
            Self::Record(new) => Deed::of_record(&new.record),
        }
    }

    fn trace(&self) -> Option<Trace> {
        match self {
            Self::Commit(commit) => Some(Trace::Event(commit.event.id)),
            Self::Record(new) => new.reply.as_ref().map(|it| Trace::Reply(it.key.clone())),
        }
    }
}
