//! The end of a run: faults stop, time passes, and the stored state is read.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::delivery::MAX_RETRY_DELAY;
use preauth_core::operation::Action;
use preauth_core::value::{IdempotencyKey, Timestamp};
use preauth_server::clock::Clock;

use crate::actors::{self, Creation, INSTANCE_FOR_LAST_QUESTIONS};
use crate::checker::{EXPIRY_PATIENCE, FinalState};
use crate::ground::Ground;
use crate::history::{CommandAnswer, Fact, OfferAnswer};

use super::Cluster;

/// Longer than an attempt, the recording of its outcome, and a restart.
const SETTLING: Duration = Duration::from_secs(25);
/// The time for attempts and expiries after a jump.
const STEP: Duration = Duration::from_secs(6);
/// Longer than the janitor's rest.
const UPKEEP: Duration = Duration::from_secs(65);
/// Longer than any lease, a mail's included.
const LEASE: TimeDelta = TimeDelta::seconds(121);
/// Maximum number of steps; a run that has work after them has a delivery or a mail that never ends.
const MAX_STEPS: u32 = 80;

/// Lets the run settle and reads its final state.
pub(crate) async fn of(cluster: &Arc<Cluster>) -> FinalState {
    let database = &cluster.database;
    cluster.chronicle.note(Fact::Quiet);
    database.faults.end();
    for machine in &cluster.machines {
        machine.set(TimeDelta::zero());
    }
    cluster.receivers.recover();
    cluster.renew_silent().await;
    tokio::time::sleep(SETTLING).await;
    if !cluster.all_run() {
        let broken = "an instance did not come back".to_owned();
        cluster.chronicle.note(Fact::Broken(broken));
    }
    ask_again(cluster).await;
    drain(cluster).await;
    actors::read_the_rest(cluster).await;
    final_state(cluster).await
}

/// Repeats every answered key and every cancellation.
async fn ask_again(cluster: &Arc<Cluster>) {
    cluster.chronicle.note(Fact::LastQuestions);
    let (keys, cancelled) = cluster.chronicle.read(|entries| {
        let mut keys: Vec<(IdempotencyKey, usize)> = Vec::new();
        let mut cancelled = Vec::new();
        for entry in entries {
            match &entry.fact {
                Fact::Offered {
                    key: Some(key),
                    invoice,
                    answer: OfferAnswer::Created(_) | OfferAnswer::Replayed(_),
                    ..
                } if !keys.iter().any(|(known, _)| known == key) => {
                    keys.push((key.clone(), *invoice));
                }
                Fact::CommandOutcome {
                    operation,
                    action: Action::Cancel,
                    answer: CommandAnswer::Done | CommandAnswer::Unchanged,
                    ..
                } if !cancelled.contains(operation) => cancelled.push(*operation),
                _ => {}
            }
        }
        (keys, cancelled)
    });
    let instance = INSTANCE_FOR_LAST_QUESTIONS;
    for creation in created(cluster) {
        actors::create(cluster, instance, &creation, true).await;
    }
    for (key, invoice) in keys {
        actors::offer(cluster, instance, invoice, Some(key)).await;
    }
    for operation in cancelled {
        actors::cancel(cluster, instance, operation).await;
    }
}

/// The distinct creates of the platform that were answered under a key.
fn created(cluster: &Cluster) -> Vec<Creation> {
    cluster.chronicle.read(|entries| {
        let mut all = Vec::new();
        for entry in entries {
            if let Fact::Keyed { creation, answer } = &entry.fact
                && answer.body().is_some()
                && !all.contains(creation)
            {
                all.push(creation.clone());
            }
        }
        all
    })
}

/// Lets time pass until no delivery and no mail is pending.
async fn drain(cluster: &Arc<Cluster>) {
    let database = &cluster.database;
    let mut idle_steps = 0;
    for subscriber in &cluster.scene.subscribers {
        database.resume(subscriber.endpoint).await;
    }
    tokio::time::sleep(UPKEEP).await;
    for _ in 0..MAX_STEPS {
        for subscriber in &cluster.scene.subscribers {
            database.resume(subscriber.endpoint).await;
        }
        let wait = match next_due(&database.ground()).await {
            // What cannot be claimed is leased: the holder may be dead.
            None if idle_steps == 1 => return,
            None => {
                idle_steps += 1;
                LEASE
            }
            Some(due) => {
                idle_steps = 0;
                let wait = due.since(cluster.clock.now());
                if wait > MAX_RETRY_DELAY {
                    // It is not waited for: nobody does.
                    return;
                }
                wait
            }
        };
        if wait > TimeDelta::zero() {
            database.jump(&cluster.clock, wait).await;
        }
        tokio::time::sleep(STEP).await;
    }
}

/// When a delivery or a mail is due next that nobody has leased.
async fn next_due(ground: &Ground) -> Option<Timestamp> {
    let delivery = ground.outbox.next_due().await.unwrap();
    let mail = match &ground.mails {
        Some(mails) => mails.next_due().await.unwrap(),
        None => None,
    };
    delivery.into_iter().chain(mail).min()
}

async fn final_state(cluster: &Arc<Cluster>) -> FinalState {
    let database = &cluster.database;
    let now = cluster.clock.now();
    let end = FinalState::of(&**database, now, now.saturating_sub(EXPIRY_PATIENCE)).await;
    FinalState {
        registered: database.ground().desk.registered().await,
        ..end
    }
}
