//! The dispatcher's side: leases, and the effects of attempts.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use uuid::Uuid;

use crate::delivery::{MAX_LEASE, MAX_RETRY_DELAY, is_slow};
use crate::port::{
    Attempt, Claim, Claimed, DeliveryStatus, Intake, Leased, MailKind, NewDelivery, NewMail,
    Outbox, Room, Trigger, Unavailable, Verdict,
};
use crate::value::{DeliveryId, EndpointId, MailId, Timestamp};

use super::MemoryStore;
use super::delivery::{Deliveries, Lease};
use super::tables::Tables;

/// A delivery that its commit leased, and the room for its attempt.
pub(super) type Handed = (Box<dyn Room>, Leased);

#[async_trait]
impl Outbox for MemoryStore {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable> {
        let host_now = (self.clock)();
        Ok(self.lock().deliveries.claim(claim, host_now))
    }

    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        let mut tables = self.lock();
        let was_paused = tables.deliveries.is_paused(leased.endpoint);
        let finished = tables.deliveries.finish(leased, attempt, verdict);
        if !was_paused && tables.deliveries.is_paused(leased.endpoint) {
            tables.stage_mail_of_pause(leased);
        }
        Ok(finished)
    }

    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable> {
        let registered = &mut self.lock().deliveries.endpoints;
        for endpoint in endpoints {
            if let Some(registered) = registered.get_mut(endpoint) {
                registered.is_slow = true;
            }
        }
        Ok(())
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        self.lock().deliveries.end_lease(leased);
        Ok(())
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        let host_now = (self.clock)();
        Ok(self.lock().deliveries.next_due(host_now))
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        let host_now = (self.clock)();
        Ok(self.lock().deliveries.bring_forward(now, host_now, limit))
    }
}

impl Tables {
    /// Stages a mail to each reader that the endpoint's company registered.
    fn stage_mail_of_pause(&mut self, leased: &Leased) {
        let endpoints = &self.deliveries.endpoints;
        let Some(registered) = endpoints.get(&leased.endpoint) else {
            return;
        };
        let head_office = registered.endpoint.head_office;
        let readers = self.readers.get(&head_office).into_iter().flatten();
        for (recipient, place) in readers.zip(0_u64..) {
            let lease = leased.token.unsigned_abs();
            self.mails.push(NewMail {
                id: MailId::new(Uuid::from_u64_pair(lease, place)),
                kind: MailKind::EndpointPaused,
                recipient: recipient.clone(),
                content: format!("nothing arrives at {}", leased.url),
                held_until: None,
            });
        }
    }
}

impl Deliveries {
    fn is_paused(&self, endpoint: EndpointId) -> bool {
        let registered = self.endpoints.get(&endpoint);
        registered.is_some_and(|registered| registered.is_paused)
    }

    fn is_slow(&self, endpoint: EndpointId) -> bool {
        let registered = self.endpoints.get(&endpoint);
        registered.is_some_and(|registered| registered.is_slow)
    }

    fn claim(&mut self, claim: &Claim, host_now: Timestamp) -> Claimed {
        let limit = usize::try_from(claim.limit).unwrap_or(usize::MAX);
        let slow_limit = usize::try_from(claim.slow_limit).unwrap_or(usize::MAX);
        let mut under_way = self.under_way(host_now);
        let (mut others, mut slow) = (Vec::new(), Vec::new());
        for (due_at, id) in self
            .due
            .iter()
            .take_while(|(due_at, _)| *due_at <= claim.now)
        {
            if let Some(endpoint) = self.free_endpoint(*id, host_now) {
                let candidates = if self.is_slow(endpoint) {
                    &mut slow
                } else {
                    &mut others
                };
                let count = under_way.entry(endpoint).or_default();
                if *count < self.limit(claim, endpoint) {
                    *count = count.saturating_add(1);
                    candidates.push((*count, *due_at, *id));
                }
            }
        }
        others.sort_unstable();
        slow.sort_unstable();
        let until = host_now.saturating_add(claim.lease);
        let leased = others
            .into_iter()
            .chain(slow.into_iter().take(slow_limit))
            .take(limit)
            .filter_map(|(_, _, id)| self.lease(id, claim.now, until))
            .collect();
        let full = self.full(claim, host_now);
        Claimed { leased, full }
    }

    /// The endpoints that have due deliveries but no room.
    fn full(&self, claim: &Claim, host_now: Timestamp) -> Vec<EndpointId> {
        let due = self.due.iter();
        let due = due.take_while(|(due_at, _)| *due_at <= claim.now);
        let waiting: BTreeSet<_> = due
            .filter_map(|(_, id)| self.free_endpoint(*id, host_now))
            .collect();
        let mut under_way = self.under_way(host_now);
        under_way.retain(|endpoint, count| {
            waiting.contains(endpoint) && *count >= self.limit(claim, *endpoint)
        });
        under_way.into_keys().collect()
    }

    fn limit(&self, claim: &Claim, endpoint: EndpointId) -> u32 {
        if self.is_slow(endpoint) {
            claim.per_slow_endpoint.get()
        } else if claim.answering.contains(&endpoint) {
            claim.per_answering_endpoint.get()
        } else {
            claim.per_endpoint.get()
        }
    }

    /// Leases a new delivery for which the commit's intake has room.
    pub(super) fn lease_at_birth(
        &mut self,
        new: NewDelivery,
        intake: &Intake,
        host_now: Timestamp,
    ) -> Option<Handed> {
        let endpoint = self.free_endpoint(new.id, host_now)?;
        if self.is_slow(endpoint) {
            return None;
        }
        let room = intake.reserve(endpoint)?;
        let now = self.rows.get(&new.id)?.record.due_at.max(room.now());
        let until = host_now.saturating_add(room.lease());
        let leased = self.lease(new.id, now, until)?;
        Some((room, leased))
    }

    /// The number of valid leases of each endpoint.
    fn under_way(&self, host_now: Timestamp) -> BTreeMap<EndpointId, u32> {
        let mut counts = BTreeMap::new();
        for lease in self.leases.values().filter(|it| it.is_live(host_now)) {
            let count: &mut u32 = counts.entry(lease.endpoint).or_default();
            *count = count.saturating_add(1);
        }
        counts
    }

    /// The endpoint of a pending delivery that may be leased: it is active, and no lease is valid.
    fn free_endpoint(&self, id: DeliveryId, host_now: Timestamp) -> Option<EndpointId> {
        let endpoint = self.rows.get(&id)?.record.endpoint;
        let is_active = !self.endpoints.get(&endpoint)?.is_paused;
        let is_leased = self.leases.get(&id).is_some_and(|it| it.is_live(host_now));
        (is_active && !is_leased).then_some(endpoint)
    }

    fn lease(&mut self, id: DeliveryId, now: Timestamp, until: Timestamp) -> Option<Leased> {
        let delivery = self.rows.get(&id)?;
        let registered = self.endpoints.get(&delivery.record.endpoint)?;
        let token = self.tokens.next();
        let endpoint = registered.endpoint.id;
        self.leases.insert(
            id,
            Lease {
                token,
                until,
                endpoint,
            },
        );
        Some(Leased {
            delivery: id,
            token,
            event: delivery.event.id,
            event_type: delivery.event.event_type.as_str().to_owned(),
            body: delivery.event.body.clone(),
            endpoint,
            url: registered.endpoint.url.clone(),
            sealed_secrets: registered.secrets(now),
            attempts_made: delivery.attempts_made,
            endpoint_healthy_at: registered.healthy_at,
            endpoint_is_slow: registered.is_slow,
            trigger: delivery.trigger,
        })
    }

    fn finish(&mut self, leased: &Leased, attempt: &Attempt, verdict: Verdict) -> bool {
        if !self.end_lease(leased) {
            return false;
        }
        let Some(delivery) = self.rows.get_mut(&leased.delivery) else {
            return false;
        };
        delivery.attempts_made = delivery.attempts_made.saturating_add(1);
        delivery.trigger = Trigger::Schedule;
        delivery.triggers.push(leased.trigger);
        let record = &mut delivery.record;
        record.attempts.push(attempt.clone());
        self.due.remove(&(record.due_at, record.id));
        let endpoint = record.endpoint;
        let is_slow = is_slow(attempt.duration);
        if (is_slow || leased.endpoint_is_slow || verdict == Verdict::Delivered)
            && let Some(registered) = self.endpoints.get_mut(&endpoint)
        {
            registered.is_slow = is_slow;
        }
        let pauses = match verdict {
            Verdict::Delivered => {
                record.status = DeliveryStatus::Delivered;
                if let Some(registered) = self.endpoints.get_mut(&endpoint) {
                    registered.healthy_at = registered.healthy_at.max(attempt.at);
                }
                false
            }
            Verdict::RetryAt { at, pause_endpoint } => {
                record.due_at = at;
                self.due.insert((at, record.id));
                pause_endpoint
            }
            Verdict::Failed { pause_endpoint } => {
                record.status = DeliveryStatus::Failed;
                pause_endpoint
            }
        };
        // Unless it has taken another delivery since this one was leased.
        let healthy_at = self.endpoints.get(&endpoint).map(|it| it.healthy_at);
        if pauses && healthy_at <= Some(leased.endpoint_healthy_at) {
            self.set_paused(endpoint, true);
        }
        true
    }

    /// Ends a lease if it is still the delivery's newest, expired or not.
    fn end_lease(&mut self, leased: &Leased) -> bool {
        let newest = self.leases.get(&leased.delivery);
        let is_newest = newest.is_some_and(|lease| lease.token == leased.token);
        if is_newest {
            self.leases.remove(&leased.delivery);
        }
        is_newest
    }

    fn next_due(&self, host_now: Timestamp) -> Option<Timestamp> {
        let mut free = self
            .due
            .iter()
            .filter(|(_, id)| self.free_endpoint(*id, host_now).is_some());
        free.next().map(|(due_at, _)| *due_at)
    }

    fn bring_forward(&mut self, now: Timestamp, host_now: Timestamp, limit: u32) -> u64 {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let latest = now.saturating_add(MAX_RETRY_DELAY);
        let late = self.due.iter().rev();
        let late = late.take_while(|(due_at, _)| *due_at > latest);
        let late = late.filter(|(_, id)| self.is_of_active_endpoint(*id));
        let late: Vec<_> = late.take(limit).copied().collect();
        for (due_at, id) in &late {
            self.due.remove(&(*due_at, *id));
            self.due.insert((now, *id));
            if let Some(delivery) = self.rows.get_mut(id) {
                delivery.record.due_at = now;
            }
        }
        let latest = host_now.max(now).saturating_add(MAX_LEASE);
        let endless = self.leases.values_mut().filter(|it| it.until > latest);
        let mut brought = late.len();
        for lease in endless.take(limit.saturating_sub(late.len())) {
            lease.until = host_now;
            brought = brought.saturating_add(1);
        }
        u64::try_from(brought).unwrap_or(u64::MAX)
    }

    fn is_of_active_endpoint(&self, id: DeliveryId) -> bool {
        let endpoint = self.rows.get(&id).map(|delivery| delivery.record.endpoint);
        endpoint.is_some_and(|endpoint| {
            let registered = self.endpoints.get(&endpoint);
            registered.is_some_and(|registered| !registered.is_paused)
        })
    }
}

impl Lease {
    fn is_live(&self, host_now: Timestamp) -> bool {
        host_now < self.until
    }
}
