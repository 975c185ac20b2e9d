//! Creates of the platform under their keys, and the assigned ids: I1 and I5.

use std::collections::{BTreeMap, BTreeSet};

use preauth_core::value::{IdempotencyKey, PaymentOrderId};

use crate::actors::{Creation, created_id, shown_id};
use crate::history::{Fact, OfferAnswer};

use super::Case;

/// The answers under one key.
#[derive(Default)]
struct Answered<'a> {
    body: Option<&'a str>,
    originals: u32,
}

impl<'a> Case<'a> {
    pub(super) fn platform_keys(&mut self) {
        let made = self.made_by_key();
        let mut answered: BTreeMap<IdempotencyKey, Answered<'a>> = BTreeMap::new();
        let mut is_over = false;
        for entry in self.history {
            match &entry.fact {
                Fact::LastQuestions => is_over = true,
                Fact::Keyed { creation, answer } => {
                    let key = creation.key();
                    self.one_record(creation, answer, made.get(&key));
                    self.one_body(answered.entry(key).or_default(), creation, answer);
                    let is_replayed = matches!(answer, OfferAnswer::Replayed(_));
                    self.expect(!is_over || is_replayed, "I5", || {
                        format!("{creation:?} is not repeated in the end: {answer}")
                    });
                }
                _ => {}
            }
        }
    }

    /// No id is assigned twice, by any primary.
    pub(super) fn reserved_ids(&mut self) {
        if !self.is_exact {
            return;
        }
        let mut reserved = BTreeSet::new();
        for entry in self.history {
            if let Fact::Reserved(kind, id) = &entry.fact {
                self.expect(reserved.insert((*kind, *id)), "I1", || {
                    format!("the id {id} of an {kind} is given out twice")
                });
            }
        }
    }

    /// The directory has what was created in it.
    pub(super) fn directory(&mut self) {
        let created: BTreeSet<_> = self
            .history
            .iter()
            .filter_map(|entry| match &entry.fact {
                Fact::Registered(entry) => Some(&entry.id),
                _ => None,
            })
            .collect();
        let stored: BTreeSet<_> = self.end.registered.iter().collect();
        self.expect(stored == created, "I2", || {
            format!("the directory has {stored:?}, and {created:?} were created")
        });
    }

    /// The one record committed under each key.
    fn made_by_key(&mut self) -> BTreeMap<&'a IdempotencyKey, String> {
        let mut made = BTreeMap::new();
        for entry in self.history {
            let (key, id) = match &entry.fact {
                Fact::Committed(recorded) => (&recorded.key, recorded.operation.id.to_string()),
                Fact::CommittedOrder(recorded) => (&recorded.key, recorded.order.id.to_string()),
                Fact::Announced(recorded) => (&recorded.key, recorded.event.id.to_string()),
                Fact::Registered(entry) => (&entry.key, entry.id.clone()),
                _ => continue,
            };
            if let Some(key) = key {
                let first = made.entry(key).or_insert_with(|| id.clone()).clone();
                self.expect(first == id, "I1", || {
                    format!("records {first} and {id} were both created under {key}")
                });
            }
        }
        made
    }

    fn one_record(&mut self, creation: &Creation, answer: &OfferAnswer, made: Option<&String>) {
        let Some(body) = answer.body() else { return };
        let answered = shown_id(body);
        let is_stored = match creation {
            Creation::Advance { .. } => self.end.operation(created_id(body)).is_some(),
            Creation::Order { .. } => {
                let id = PaymentOrderId::new(created_id(body).get());
                id.is_some_and(|id| self.end.orders.contains_key(&id))
            }
            Creation::TestEvent { .. } => {
                let mut others = self.end.others.iter();
                others.any(|event| event.id.to_string() == answered)
            }
            Creation::Company { .. } | Creation::ApiKey { .. } => {
                self.end.registered.contains(&answered)
            }
        };
        self.expect(is_stored && made == Some(&answered), "I1", || {
            format!("{creation:?} is answered {answered}, stored: {is_stored}, committed: {made:?}")
        });
    }

    fn one_body(
        &mut self,
        answered: &mut Answered<'a>,
        creation: &Creation,
        answer: &'a OfferAnswer,
    ) {
        let Some(body) = answer.body() else { return };
        let first = *answered.body.get_or_insert(body);
        self.expect(first == body, "I5", || {
            format!("{creation:?} is answered {first} and then {body}")
        });
        if matches!(answer, OfferAnswer::Created(_)) {
            answered.originals += 1;
        }
        let originals = answered.originals;
        self.expect(originals <= 1, "I5", || {
            format!("{originals} answers of {creation:?} are no replays")
        });
    }
}
