//! The answers of callers: I1, I5, I7, and the part of I14 that callers see.

use std::collections::BTreeMap;

use preauth_core::operation::Action;
use preauth_core::value::{EventType, IdempotencyKey, OperationId, Origin};

use crate::actors::created_id;
use crate::history::{CommandAnswer, Fact, OfferAnswer};
use crate::scene::Scene;

use super::Case;

/// The answers under one idempotency key.
#[derive(Default)]
struct KeyAnswers<'a> {
    body: Option<&'a str>,
    originals: u32,
}

impl<'a> Case<'a> {
    pub(super) fn answers(&mut self) {
        let by_key = self.operations_by_key();
        let mut replies: BTreeMap<&'a IdempotencyKey, KeyAnswers<'a>> = BTreeMap::new();
        let mut is_over = false;
        for entry in self.history {
            match &entry.fact {
                Fact::LastQuestions => is_over = true,
                Fact::Offered {
                    key,
                    invoice,
                    answer,
                    ..
                } => {
                    self.one_operation(key.as_ref(), *invoice, answer, &by_key);
                    if let Some(key) = key {
                        self.one_answer(replies.entry(key).or_default(), key, answer);
                    }
                    let is_replayed = matches!(answer, OfferAnswer::Replayed(_));
                    self.expect(!is_over || is_replayed, "I5", || {
                        format!(
                            "what was answered is not repeated in the end: {}",
                            entry.fact
                        )
                    });
                }
                Fact::CommandOutcome {
                    operation,
                    action: Action::Cancel,
                    answer,
                    ..
                } => {
                    let is_cancelled =
                        matches!(answer, CommandAnswer::Done | CommandAnswer::Unchanged);
                    if is_cancelled {
                        self.stays_cancelled(*operation);
                    }
                    self.expect(!is_over || is_cancelled, "I7", || {
                        format!("a cancellation is refused in the end: {}", entry.fact)
                    });
                }
                _ => {}
            }
        }
    }

    fn operations_by_key(&mut self) -> BTreeMap<&'a IdempotencyKey, OperationId> {
        let mut by_key = BTreeMap::new();
        for recorded in self.commits() {
            if let Some(key) = &recorded.key {
                let id = recorded.operation.id;
                let first = *by_key.entry(key).or_insert(id);
                self.expect(first == id, "I1", || {
                    format!("operations {first} and {id} were both created under {key}")
                });
            }
        }
        by_key
    }

    fn one_operation(
        &mut self,
        key: Option<&IdempotencyKey>,
        invoice: usize,
        answer: &OfferAnswer,
        by_key: &BTreeMap<&IdempotencyKey, OperationId>,
    ) {
        if let (OfferAnswer::Duplicate(existing), Some(key)) = (answer, key) {
            self.expect(by_key.get(key) != Some(existing), "I5", || {
                format!("operation {existing} is in the way of its own key {key}")
            });
        }
        let Some(body) = answer.body() else { return };
        let id = created_id(body);
        let meant = Scene::invoice(invoice);
        let exists = self.end.operation(id).is_some_and(|operation| {
            operation.origin == Origin::PreAuth && operation.invoice == meant
        });
        self.expect(exists, "I1", || {
            format!("a 201 names operation {id}, which is not what was offered")
        });
        if let Some(key) = key {
            self.expect(by_key.get(key) == Some(&id), "I1", || {
                format!("under {key} a 201 names operation {id}, which has not that key")
            });
        }
    }

    fn one_answer(
        &mut self,
        answers: &mut KeyAnswers<'a>,
        key: &IdempotencyKey,
        answer: &'a OfferAnswer,
    ) {
        let Some(body) = answer.body() else { return };
        let first = *answers.body.get_or_insert(body);
        self.expect(first == body, "I5", || {
            format!("under {key} came {first} and then {body}")
        });
        if let OfferAnswer::Created(_) = answer {
            answers.originals += 1;
        }
        let originals = answers.originals;
        self.expect(originals <= 1, "I5", || {
            format!("{originals} answers under {key} are no replays")
        });
    }

    fn stays_cancelled(&mut self, id: OperationId) {
        let closing = self
            .end
            .operation(id)
            .and_then(|operation| operation.closing());
        let is_cancelled = closing.is_some_and(|closing| closing.action == Action::Cancel);
        let commits = self.commits().filter(|it| it.operation.id == id);
        let revoked = EventType::PreAuthorizationRevoked;
        let events = commits.filter(|it| it.event.event_type == revoked).count();
        self.expect(is_cancelled && events == 1, "I7", || {
            format!("operation {id} was cancelled: {is_cancelled}, with {events} events")
        });
    }
}
