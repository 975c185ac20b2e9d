//! Commits that are written after their answer was lost.

use std::collections::BTreeMap;
use std::sync::Mutex;

use preauth_core::port::Commit;
use preauth_core::value::EventId;

use crate::clock::sleep_ms;
use crate::history::{Deed, Fact};

use super::{Database, SimStore, outliving};

/// Most late commits land within this time, while their caller still retries.
const LATE_MS: u64 = 300;
/// The others land within this one, after the caller got its answer.
const LATEST_MS: u64 = 5_000;
/// The share of these, per thousand.
const MUCH_LATER: u64 = 300;
/// The share of those that land as soon as their caller has looked for them in vain, per thousand.
const AFTER_LOOK_UP: u64 = 300;

/// The commits that have not landed yet, by their events.
#[derive(Debug, Default)]
pub(super) struct LateCommits(Mutex<BTreeMap<EventId, LateCommit>>);

#[derive(Debug)]
struct LateCommit {
    store: SimStore,
    commit: Commit,
    connection: u32,
    lands_after_look_up: bool,
}

impl SimStore {
    /// The database continues with work it has received, even if the instance died.
    pub(super) fn land_late(&self, commit: Commit, connection: u32) {
        let (pause, lands_after_look_up) = self.database.faults.draw(|random| {
            if random.chance(AFTER_LOOK_UP) {
                (LATEST_MS, true)
            } else if random.chance(MUCH_LATER) {
                (random.between(LATE_MS, LATEST_MS), false)
            } else {
                (random.between(1, LATE_MS), false)
            }
        });
        let (store, event) = (self.clone(), commit.event.id);
        let late = LateCommit {
            store: self.clone(),
            commit,
            connection,
            lands_after_look_up,
        };
        self.database.late.0.lock().unwrap().insert(event, late);
        tokio::spawn(async move {
            sleep_ms(pause).await;
            let late = store.database.late.0.lock().unwrap().remove(&event);
            if let Some(late) = late {
                late.land().await;
            }
        });
    }
}

impl Database {
    /// Writes the late commit of an event that was looked up in vain, if that is when it lands: before the
    /// caller retries it.
    pub(super) async fn land_after_look_up(&self, event: EventId) {
        let late = {
            let mut all = self.late.0.lock().unwrap();
            let is_now = all.get(&event).is_some_and(|it| it.lands_after_look_up);
            is_now.then(|| all.remove(&event)).flatten()
        };
        if let Some(late) = late {
            outliving(late.land()).await;
        }
    }
}

impl LateCommit {
    async fn land(self) {
        let Self {
            store,
            commit,
            connection,
            ..
        } = self;
        let deed = Deed::of(&commit);
        // No caller is left to inform.
        let is_applied =
            !store.database.is_cut_off(connection) && store.apply(commit).await.is_ok();
        store
            .database
            .chronicle
            .note(Fact::LandedLate { deed, is_applied });
    }
}
