//! The dispatcher's port.

use std::num::NonZeroU32;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::{Attempt, Claim, Claimed, Leased, Outbox, Unavailable, Verdict};
use preauth_core::value::{EndpointId, Timestamp};

use crate::defect::Defect;
use crate::faults::Call;
use crate::ground::Ground;
use crate::history::Fact;
use crate::newer::{UNKNOWN_TYPE, is_of_newer_build};

use super::lane::{LOCK_WAIT_MS, Lane};
use super::{Database, SimStore, outliving, unavailable};

/// More than the deliveries of a run.
const MANY: NonZeroU32 = NonZeroU32::MAX;

#[async_trait]
impl Outbox for SimStore {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable> {
        let (store, claim) = (self.clone(), claim.clone());
        let work = move |is_held| {
            outliving(async move {
                store.pass(&store.database.claims).await;
                if is_held && store.database.has(Defect::HeldDeliveryStopsAll) {
                    store.database.claims.wait(LOCK_WAIT_MS, true).await;
                }
                let _others_too = store.database.pausing.read().await;
                let Claimed { mut leased, full } =
                    store.database.claim(&store.ground(), &claim).await?;
                if is_held {
                    store
                        .database
                        .leave_out_one(&store.ground(), &mut leased)
                        .await?;
                }
                let leased = store.database.as_stored(&store.ground(), leased).await?;
                for leased in &leased {
                    store.database.chronicle.note(Fact::Claimed {
                        instance: store.instance,
                        delivery: leased.delivery,
                        token: leased.token,
                        event: leased.event,
                        endpoint: leased.endpoint,
                    });
                }
                Ok(Claimed { leased, full })
            })
        };
        let claimed = self.call_on_rows(Call::Claim, work).await?;
        let process = self.process;
        self.database.chronicle.note(Fact::Searched { process });
        Ok(claimed)
    }

    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        let (store, leased, attempt) = (self.clone(), leased.clone(), attempt.clone());
        let work = move |is_held| {
            outliving(async move {
                store.pass(&store.database.outcomes).await;
                let stops_all = store.database.has(Defect::HeldOutcomeStopsAll);
                let outcomes = &store.database.outcomes;
                if is_held && !store.waits_until_free(outcomes, stops_all).await {
                    return Err(unavailable());
                }
                let _alone = store.database.pausing.write().await;
                let ground = store.ground();
                let is_recorded = store
                    .database
                    .finish(&ground, &leased, &attempt, verdict)
                    .await?;
                store.database.chronicle.note(Fact::Finished {
                    instance: store.instance,
                    delivery: leased.delivery,
                    token: leased.token,
                    verdict,
                    is_recorded,
                });
                if is_recorded && pauses(verdict) {
                    store.database.note_paused(leased.endpoint);
                }
                Ok(is_recorded)
            })
        };
        self.call_on_rows(Call::Finish, work).await
    }

    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable> {
        let ground = self.ground();
        let work = |is_held| async move {
            // An endpoint whose row is locked is left as it is.
            if is_held {
                return Ok(());
            }
            ground.outbox.note_slow(endpoints).await
        };
        self.call_on_rows(Call::NoteSlow, work).await
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        let work = async {
            self.ground().outbox.release(leased).await?;
            let delivery = leased.delivery;
            self.database.chronicle.note(Fact::Released { delivery });
            Ok(())
        };
        self.call(Call::Release, work).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        let ground = self.ground();
        self.call(Call::NextDue, ground.outbox.next_due()).await
    }

    /// Has no fault: it is repeated every minute, and a run lasts not much longer.
    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        // A lease that never ends is not ended here either.
        let keeps = [
            Defect::TimesLeftAhead,
            Defect::EndlessLease,
            Defect::HandoverLostForGood,
        ];
        if keeps.iter().any(|it| self.database.has(*it)) {
            return Ok(0);
        }
        self.ground().outbox.bring_forward(now, limit).await
    }
}

impl SimStore {
    /// Waits for the lock of a row; returns `false` when that took too long.
    pub(super) async fn waits_until_free(&self, lane: &Lane, stops_all: bool) -> bool {
        let faults = &self.database.faults;
        let held_ms = faults.draw(|random| random.between(1, 2 * LOCK_WAIT_MS));
        let waits_ms = held_ms.min(LOCK_WAIT_MS);
        lane.wait(waits_ms, stops_all).await;
        held_ms <= LOCK_WAIT_MS
    }
}

impl Database {
    /// Leases a due delivery for nobody.
    pub(crate) async fn lease_one(&self, now: Timestamp, lease: TimeDelta) {
        let claim = Claim {
            now,
            lease,
            limit: 1,
            slow_limit: 1,
            per_endpoint: MANY,
            per_slow_endpoint: MANY,
            answering: Vec::new(),
            per_answering_endpoint: MANY,
        };
        self.ground().outbox.claim(&claim).await.unwrap();
    }

    /// Skips a delivery whose row is locked.
    async fn leave_out_one(
        &self,
        ground: &Ground,
        leased: &mut Vec<Leased>,
    ) -> Result<(), Unavailable> {
        if leased.is_empty() {
            return Ok(());
        }
        let place = self.faults.draw(|random| random.below(leased.len() as u64));
        let held = leased.remove(usize::try_from(place).unwrap());
        ground.outbox.release(&held).await
    }

    async fn claim(&self, ground: &Ground, claim: &Claim) -> Result<Claimed, Unavailable> {
        let mut claim = claim.clone();
        if self.has(Defect::EndlessLease) {
            claim.lease = TimeDelta::days(3650);
        }
        if !self.has(Defect::PauseIgnored) {
            let claimed = ground.outbox.claim(&claim).await?;
            self.bend_leases(ground, &claimed.leased).await?;
            return Ok(claimed);
        }
        let paused = self.paused.lock().unwrap().clone();
        for it in &paused {
            ground.desk.resume(*it, claim.now).await;
        }
        let claimed = ground.outbox.claim(&claim).await;
        for it in &paused {
            ground.desk.pause(*it, claim.now).await;
        }
        claimed
    }

    /// Shows the event types that a newer build recorded.
    async fn as_stored(
        &self,
        ground: &Ground,
        mut leased: Vec<Leased>,
    ) -> Result<Vec<Leased>, Unavailable> {
        let mut knows_all = true;
        for leased in &mut leased {
            if is_of_newer_build(leased.event) {
                UNKNOWN_TYPE.clone_into(&mut leased.event_type);
                knows_all = false;
            }
        }
        if knows_all || !self.has(Defect::UnknownTypeStopsAll) {
            return Ok(leased);
        }
        for leased in &leased {
            ground.outbox.release(leased).await?;
        }
        Err(unavailable())
    }

    async fn bend_leases(&self, ground: &Ground, leased: &[Leased]) -> Result<(), Unavailable> {
        if self.has(Defect::FencingIgnored) {
            let newest = leased.iter().map(|leased| (leased.delivery, leased.token));
            self.newest.lock().unwrap().extend(newest);
        }
        if self.has(Defect::MarkedBeforeSent) {
            for leased in leased {
                let attempt = Attempt {
                    at: self.chronicle.now(),
                    duration: TimeDelta::zero(),
                    http_status: Some(200),
                    error: None,
                    response_body: Vec::new(),
                };
                ground
                    .outbox
                    .finish(leased, &attempt, Verdict::Delivered)
                    .await?;
            }
        }
        Ok(())
    }

    async fn finish(
        &self,
        ground: &Ground,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        let mut leased = leased.clone();
        if self.has(Defect::FencingIgnored)
            && let Some(newest) = self.newest.lock().unwrap().get(&leased.delivery)
        {
            leased.token = *newest;
        }
        ground.outbox.finish(&leased, attempt, verdict).await
    }
}

const fn pauses(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Delivered => false,
        Verdict::RetryAt { pause_endpoint, .. } | Verdict::Failed { pause_endpoint } => {
            pause_endpoint
        }
    }
}
