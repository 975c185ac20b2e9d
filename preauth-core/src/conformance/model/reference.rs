//! The model: plain numbers and lists, with no code of the rules or the stores.

use std::collections::{BTreeMap, BTreeSet};

use crate::value::{EventType, Status};

use super::step::{CREDIT_CENTS, CREDIT_DAYS, OfferStep, Payer, Supplier};
use super::table::Deed;

const DAY_MS: i64 = 86_400_000;
/// São Paulo has kept three hours behind UTC, summer and winter, since 2019.
const BEHIND_UTC_MS: i64 = 3 * 3_600_000;
const MONTH_MS: i64 = 30 * DAY_MS;

/// The outcome of a step, as its caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Created,
    /// The answer to the creation of the operation with this index.
    Replayed(usize),
    KeyReused,
    Changed(EventType),
    Unchanged,
    /// Refused, and why; a duplicate by the operation with this index.
    Refused(&'static str),
    Duplicate(usize),
}

/// One operation as the model sees it.
#[derive(Clone, Debug)]
pub(super) struct Modelled {
    pub(super) payer: Payer,
    pub(super) status: Status,
    pub(super) closed_by: Option<Deed>,
    pub(super) net_cents: Option<i64>,
    pub(super) expires_ms: Option<i64>,
    pub(super) boleto_day: i64,
    pub(super) extension_day: Option<i64>,
    /// The due date of the last concluded extension.
    pub(super) extended_day: Option<i64>,
    /// The status before the latest reproval.
    pub(super) refused_in: Option<Status>,
    pub(super) events: Vec<EventType>,
    pub(super) supplier: Supplier,
    pub(super) number: Option<u64>,
    pub(super) net_limit_cents: i64,
    pub(super) due_day: i64,
}

/// The arguments of a deed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arguments {
    pub(super) net_cents: i64,
    pub(super) extension_day: i64,
    pub(super) extension_cents: i64,
    /// Whether the deed names the extension that was created last.
    pub(super) names_the_open_extension: bool,
}

#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) now_ms: i64,
    pub(super) operations: Vec<Modelled>,
    /// Which groups have invited the new supplier: `Head`, `Other`.
    invited_by: [bool; 2],
    pub(super) new_supplier_is_registered: bool,
    /// By group and key: the request, the operation that it created, and the end of the reply.
    replies: BTreeMap<(bool, u64), (OfferStep, i64, usize, i64)>,
}

impl Model {
    pub(super) fn at(now_ms: i64) -> Self {
        Self {
            now_ms,
            ..Self::default()
        }
    }

    pub(super) fn offer(&mut self, step: OfferStep) -> Outcome {
        let due_day = today(self.now_ms) + step.days_ahead;
        let key = step.key.map(|key| (step.payer == Payer::Other, key));
        if let Some((asked, asked_due, index, until)) = key.and_then(|key| self.replies.get(&key))
            && self.now_ms < *until
        {
            // A step encodes the date as days from its own day; compare the date that was sent.
            let same = OfferStep {
                days_ahead: asked.days_ahead,
                ..step
            };
            return if same == *asked && due_day == *asked_due {
                Outcome::Replayed(*index)
            } else {
                Outcome::KeyReused
            };
        }
        let holder = self.meet_holder(step.payer, step.supplier, Some(step.number));
        if let Some(refusal) = self.refuse_offer(step) {
            return Outcome::Refused(refusal);
        }
        if let Some(holder) = holder {
            return Outcome::Duplicate(holder);
        }
        match step.supplier {
            Supplier::New | Supplier::Unnamed => {
                self.invited_by[usize::from(step.payer == Payer::Other)] = true;
            }
            Supplier::Blocked | Supplier::Registered | Supplier::Payer | Supplier::PayersEntity => {
            }
        }
        if let Some(key) = key {
            let reply = (step, due_day, self.operations.len(), self.now_ms + MONTH_MS);
            self.replies.insert(key, reply);
        }
        let last_day = end_of_day(due_day - 5);
        self.operations.push(Modelled {
            payer: step.payer,
            status: Status::InPreAuth,
            closed_by: None,
            net_cents: None,
            expires_ms: Some(last_day.min(self.now_ms + MONTH_MS)),
            boleto_day: due_day,
            extension_day: None,
            extended_day: None,
            refused_in: None,
            events: vec![EventType::PreAuthorizationCreated],
            supplier: step.supplier,
            number: Some(step.number),
            net_limit_cents: step.cents,
            due_day,
        });
        Outcome::Created
    }

    /// The first reason to refuse an offer, in the order in which the rules decide.
    fn refuse_offer(&self, step: OfferStep) -> Option<&'static str> {
        let is_other = step.payer == Payer::Other;
        let is_self =
            matches!(step.supplier, Supplier::Payer | Supplier::PayersEntity) && !is_other;
        let is_known = self.new_supplier_is_registered || self.invited_by[usize::from(is_other)];
        let is_unknown = step.supplier == Supplier::Unnamed && !is_known;
        let refusals = [
            (step.days_ahead < 5, "due date too near"),
            (step.days_ahead > 180, "due date too far"),
            (is_self, "self"),
            (step.supplier == Supplier::Blocked && !is_other, "blocked"),
            (is_unknown, "name required"),
            (!is_other && step.days_ahead > CREDIT_DAYS, "credit term"),
            (!is_other && step.cents > CREDIT_CENTS, "credit amount"),
        ];
        let first = refusals.iter().find(|(applies, _)| *applies);
        first.map(|(_, refusal)| *refusal)
    }

    pub(super) fn advance(
        &mut self,
        payer: Payer,
        supplier: Supplier,
        number: Option<u64>,
        net_limit_cents: i64,
        due_day: i64,
    ) -> Outcome {
        let holder = self.meet_holder(payer, supplier, number);
        if supplier == Supplier::Payer && payer != Payer::Other {
            return Outcome::Refused("self");
        }
        if supplier == Supplier::New && !self.new_supplier_is_registered {
            return Outcome::Refused("name required");
        }
        if let Some(holder) = holder {
            return Outcome::Duplicate(holder);
        }
        self.operations.push(Modelled {
            payer,
            status: Status::InVerification,
            closed_by: None,
            net_cents: None,
            expires_ms: None,
            boleto_day: due_day,
            extension_day: None,
            extended_day: None,
            refused_in: None,
            events: vec![EventType::AnticipationCreated],
            supplier,
            number,
            net_limit_cents,
            due_day,
        });
        Outcome::Created
    }

    /// The operation in progress that holds an invoice. An overdue one is expired first, so no decision
    /// depends on it.
    pub(super) fn meet_holder(
        &mut self,
        payer: Payer,
        supplier: Supplier,
        number: Option<u64>,
    ) -> Option<usize> {
        let number = number?;
        let slot = (payer == Payer::Other, one(supplier), Some(number));
        let holder = self.operations.iter().position(|it| {
            let in_progress = !matches!(it.status, Status::Reproved | Status::Concluded);
            in_progress && (it.payer == Payer::Other, one(it.supplier), it.number) == slot
        })?;
        if self.is_overdue(holder) {
            self.expire(holder);
            return None;
        }
        Some(holder)
    }

    pub(super) fn overdue(&self) -> BTreeSet<usize> {
        (0..self.operations.len())
            .filter(|index| self.is_overdue(*index))
            .collect()
    }

    pub(super) fn next_expiry(&self) -> Option<i64> {
        let offers = self.operations.iter();
        let offers = offers.filter(|it| it.status == Status::InPreAuth);
        let ends = offers.filter_map(|it| it.expires_ms);
        ends.filter(|end| *end >= self.now_ms).min()
    }

    pub(super) fn is_overdue(&self, index: usize) -> bool {
        let operation = &self.operations[index];
        let is_past = operation.expires_ms.is_some_and(|end| self.now_ms > end);
        operation.status == Status::InPreAuth && is_past
    }

    pub(super) fn expire(&mut self, index: usize) {
        let operation = &mut self.operations[index];
        operation.status = Status::Reproved;
        operation.closed_by = Some(Deed::Expire);
        operation.events.push(EventType::PreAuthorizationExpired);
    }
}

/// Maps both spellings of the new supplier to one.
fn one(supplier: Supplier) -> u8 {
    match supplier {
        Supplier::Registered => 0,
        Supplier::New | Supplier::Unnamed => 1,
        Supplier::Blocked => 2,
        Supplier::Payer => 3,
        Supplier::PayersEntity => 4,
    }
}

/// Days since 1970 in São Paulo.
pub(super) fn today(now_ms: i64) -> i64 {
    (now_ms - BEHIND_UTC_MS).div_euclid(DAY_MS)
}

fn end_of_day(day: i64) -> i64 {
    (day + 1) * DAY_MS + BEHIND_UTC_MS - 1
}
