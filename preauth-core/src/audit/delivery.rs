//! Checks the deliveries of an event: their recipients, and whether their status follows from their
//! attempts.

use std::collections::BTreeSet;

use crate::delivery::RETRY_DELAYS_SECONDS;
use crate::port::{
    DeliveryStatus, EndpointState, OtherEvent, StoredAttempt, StoredDelivery, StoredEvent, Subject,
    Trigger,
};
use crate::value::CompanyId;

use super::checker::{Checker, Findings, LEASE_PATIENCE, MAX_LEASE};
use super::{Rule, Violation};

impl Checker<'_> {
    /// Checks an event that belongs to neither an operation nor a payment order, with its deliveries.
    #[must_use]
    pub fn other_event(&self, stored: &OtherEvent) -> Vec<Violation> {
        let mut found = Findings::of(Subject::Event(stored.event.id));
        self.decoded(&stored.event, &mut found);
        let mut violations = found.violations;
        violations.extend(self.deliveries(&stored.event, &[stored.head_office]));
        violations
    }

    /// Checks the deliveries of an event whose parties have these head offices.
    pub(super) fn deliveries(&self, event: &StoredEvent, parties: &[CompanyId]) -> Vec<Violation> {
        let mut endpoints = BTreeSet::new();
        let mut violations = Vec::new();
        for delivery in &event.deliveries {
            let mut found = Findings::of(Subject::Delivery(delivery.id));
            let is_first = endpoints.insert(delivery.endpoint.id);
            found.expect(is_first, Rule::Recipients, || {
                let endpoint = delivery.endpoint.id;
                format!("event {} goes to endpoint {endpoint} twice", event.id)
            });
            addressed(delivery, event, parties, &mut found);
            outcome(delivery, &mut found);
            self.lease(delivery, &mut found);
            violations.append(&mut found.violations);
        }
        violations
    }

    fn lease(&self, delivery: &StoredDelivery, found: &mut Findings) {
        let Some(until) = delivery.leased_until else {
            return;
        };
        let host_now = self.host_now;
        let ends = until <= host_now.saturating_add(MAX_LEASE);
        found.expect(ends, Rule::LeasesEnd, || {
            format!("it is leased until {until}, and it is {host_now}")
        });
        let is_waited_for = self.moment.is_live && delivery.endpoint.state == EndpointState::Active;
        let is_left = is_waited_for && until < host_now.saturating_sub(LEASE_PATIENCE);
        found.expect(!is_left, Rule::LeasesEnd, || {
            format!("its lease ended at {until}, and nobody has taken it up again")
        });
    }
}

fn addressed(
    delivery: &StoredDelivery,
    event: &StoredEvent,
    parties: &[CompanyId],
    found: &mut Findings,
) {
    let endpoint = &delivery.endpoint;
    let is_party = parties.contains(&endpoint.head_office);
    found.expect(is_party, Rule::Recipients, || {
        let stranger = endpoint.head_office;
        format!("event {} is not company {stranger}'s to receive", event.id)
    });
    let is_listed = delivery.head_office == endpoint.head_office;
    found.expect(is_listed, Rule::Recipients, || {
        format!(
            "it is listed under company {}, and its endpoint is of {}",
            delivery.head_office, endpoint.head_office
        )
    });
    let is_type = delivery.event_type == event.event_type;
    found.expect(is_type, Rule::Recipients, || {
        format!(
            "it counts as {}, and its event is {}",
            delivery.event_type, event.event_type
        )
    });
}

fn outcome(delivery: &StoredDelivery, found: &mut Findings) {
    let attempts = &delivery.attempts;
    let are_numbered = (1..).zip(attempts).all(|(n, it)| it.number == n);
    found.expect(are_numbered, Rule::DeliveryOutcome, || {
        let numbers: Vec<_> = attempts.iter().map(|it| it.number).collect();
        format!("its attempts have the numbers {numbers:?}")
    });
    let since = since_last_resend(delivery);
    let made = usize::try_from(delivery.attempts_made).unwrap_or(usize::MAX);
    found.expect(made == since.len(), Rule::DeliveryOutcome, || {
        let count = since.len();
        format!("it counts {made} attempts on its schedule, and {count} are recorded")
    });
    let has_arrived = since.last().is_some_and(StoredAttempt::confirms);
    let is_used_up = since.len() > RETRY_DELAYS_SECONDS.len();
    let is_removed = delivery.endpoint.state == EndpointState::Removed;
    let (holds, what) = match delivery.status {
        DeliveryStatus::Delivered => (has_arrived, "delivered, and no attempt confirms it"),
        DeliveryStatus::Failed => (
            !has_arrived && (is_used_up || is_removed),
            "failed, and its attempts are not used up",
        ),
        DeliveryStatus::Pending => (
            // A pending delivery of a removed endpoint is valid: it is about to be ended.
            !has_arrived && !is_used_up,
            "pending, and nothing is left to be attempted",
        ),
    };
    found.expect(holds, Rule::DeliveryOutcome, || {
        let attempts = attempts.len();
        format!("it counts as {what}; {attempts} attempts are recorded")
    });
}

/// The attempts since the delivery was created or last resent.
fn since_last_resend(delivery: &StoredDelivery) -> &[StoredAttempt] {
    if delivery.next_trigger == Trigger::Resend {
        return &[];
    }
    let attempts = &delivery.attempts;
    let resent = attempts
        .iter()
        .rposition(|it| it.trigger == Trigger::Resend);
    attempts.get(resent.unwrap_or(0)..).unwrap_or_default()
}
