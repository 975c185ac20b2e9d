//! The two ways an operation begins: an ERP's offer and a supplier's direct advance.

use std::error::Error;

use async_trait::async_trait;

use crate::operation::{
    Action, Actor, DirectAdvance, KnownSupplier, Offer, Operation, decide_direct_advance,
    decide_offer,
};
use crate::port::{
    Commit, LoadedOffer, MailKind, NewMail, NewReply, NewSupplier, OfferTarget, ReplyScope, Write,
};
use crate::value::{
    CompanyId, CompanyName, Fingerprints, IdempotencyKey, MailId, OperationId, Timestamp,
};

use super::error::Contended;
use super::{Attempt, Operations, ROUNDS, ReplyOf, Round, ServiceError, Unsettled};

/// The answer to an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferOutcome {
    /// A new operation began; `body` is its frozen answer.
    Created {
        /// The operation as it began.
        operation: Box<Operation>,
        /// The answer's body, which a replay repeats byte for byte.
        body: String,
    },
    /// The idempotency key was answered before.
    Replayed {
        /// The original answer's body.
        body: String,
    },
}

/// An offer that would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptableOffer {
    /// The operation as it would begin. Its id means nothing, nor does that of a new supplier.
    pub operation: Box<Operation>,
    /// Whether the supplier's name and contact are not needed, because the head office knows it.
    pub supplier_is_known: bool,
}

/// A step that must be complete before an offer is committed, such as storing its file, and what must still
/// hold by then.
///
/// [`prepare`](Self::prepare) is called again when another commit comes first, and must do its work only
/// once.
#[async_trait]
pub trait Preparation: Send + Sync {
    /// Performs the step. Returns the time by now if the step took its time: then the offer is decided again at that
    /// time, because a supplier may have been blocked meanwhile, or a day have ended.
    ///
    /// # Errors
    ///
    /// Fails if the step fails, which prevents the commit; the cause is passed on unchanged.
    async fn prepare(&self) -> Result<Option<Timestamp>, Box<dyn Error + Send + Sync>>;
}

/// The kind of operation that begins, which selects the rules that decide it.
enum Beginning<'a> {
    Offer {
        offer: &'a Offer,
        key: Option<(&'a IdempotencyKey, Fingerprints)>,
        preparation: Option<&'a dyn Preparation>,
    },
    DirectAdvance {
        advance: &'a DirectAdvance,
        reply: Option<&'a ReplyOf<'a, Operation>>,
    },
}

/// When an offer is decided, and the id that was reserved for it before a preparation.
struct Decided {
    now: Timestamp,
    id: Option<OperationId>,
}

impl Operations {
    /// Offers an advance
    /// ([contract, "POST /pre-authorizations"](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizations)).
    ///
    /// Under an idempotency key the same offer has one answer, for any number of callers and across
    /// crashes. Only an offer that created an operation is remembered.
    pub async fn offer(
        &self,
        offer: &Offer,
        actor: Actor,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<OfferOutcome, ServiceError> {
        self.offer_prepared(offer, actor, key, None, now).await
    }

    /// Offers an advance like [`Operations::offer`], and runs `preparation` directly before the commit.
    /// It does not run for an offer that is refused or was answered before.
    ///
    /// # Errors
    ///
    /// Fails as [`Operations::offer`] does, and with [`ServiceError::Unprepared`] if `preparation` fails.
    pub async fn offer_prepared(
        &self,
        offer: &Offer,
        actor: Actor,
        key: Option<&IdempotencyKey>,
        preparation: Option<&dyn Preparation>,
        now: Timestamp,
    ) -> Result<OfferOutcome, ServiceError> {
        let _guard = match key {
            None => None,
            Some(key) => Some(
                self.in_flight
                    .enter(ReplyScope::HeadOffice(offer.payer), key)
                    .ok_or(ServiceError::IdempotencyInProgress)?,
            ),
        };
        let key = key.map(|key| (key, offer.fingerprints()));
        let beginning = Beginning::Offer {
            offer,
            key,
            preparation,
        };
        self.begin(&beginning, actor, now).await
    }

    /// Decides an offer like [`Operations::offer`] without an idempotency key, and makes nothing.
    ///
    /// A moment later the decision may be another one.
    pub async fn validate(
        &self,
        offer: &Offer,
        now: Timestamp,
    ) -> Result<AcceptableOffer, ServiceError> {
        let beginning = Beginning::Offer {
            offer,
            key: None,
            preparation: None,
        };
        let loaded = self.store.load_offer(&beginning.target()).await?;
        let mut context = loaded.ok_or(ServiceError::UnknownCompany)?.context;
        // An offer would record its expiry first, and find the invoice free.
        context.holder = context.holder.filter(|holder| !holder.is_overdue(now));
        let new_supplier = CompanyId::new(self.ids.uuid(now));
        let operation = decide_offer(offer, &context, new_supplier, &self.policy, now)?;
        Ok(AcceptableOffer {
            supplier_is_known: context.supplier.party().is_some(),
            operation: Box::new(operation),
        })
    }

    /// The earlier answer to `offer` under `key`, if there is one. For offers with values that are
    /// refused now, but were accepted when the offer was answered.
    pub async fn answered_before(
        &self,
        offer: &Offer,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<OfferOutcome>, ServiceError> {
        let key = Some((key, offer.fingerprints()));
        let beginning = Beginning::Offer {
            offer,
            key,
            preparation: None,
        };
        let loaded = self.store.load_offer(&beginning.target()).await?;
        let answer = loaded.and_then(|loaded| beginning.replay(&loaded, now));
        Ok(answer.and_then(Result::ok))
    }

    /// Begins a direct advance: origin DIRECT, status `IN_VERIFICATION`. `reply` makes the answer to
    /// store with it if it was sent under an idempotency key (see [`Operations::once`]).
    pub async fn advance_directly(
        &self,
        advance: &DirectAdvance,
        actor: Actor,
        reply: Option<&ReplyOf<'_, Operation>>,
        now: Timestamp,
    ) -> Result<OfferOutcome, ServiceError> {
        self.begin(&Beginning::DirectAdvance { advance, reply }, actor, now)
            .await
    }

    async fn begin(
        &self,
        beginning: &Beginning<'_>,
        actor: Actor,
        now: Timestamp,
    ) -> Result<OfferOutcome, ServiceError> {
        let mut decided = Decided { now, id: None };
        let mut unsettled = Unsettled::default();
        let mut last = ServiceError::from(Contended);
        for _ in 0..ROUNDS {
            let round = self.begin_once(beginning, actor, &mut decided, &mut unsettled);
            match round.await {
                Ok(Round::Done(offered)) => return Ok(offered),
                Ok(Round::Again(failure)) => last = failure,
                Err(failure) => return Err(unsettled.or_unknown(failure)),
            }
        }
        Err(unsettled.or_unknown(last))
    }

    async fn begin_once(
        &self,
        beginning: &Beginning<'_>,
        actor: Actor,
        decided: &mut Decided,
        unsettled: &mut Unsettled<OfferOutcome>,
    ) -> Result<Round<OfferOutcome>, ServiceError> {
        let now = decided.now;
        let loaded = self.store.load_offer(&beginning.target()).await?;
        let mut loaded = loaded.ok_or(ServiceError::UnknownCompany)?;
        // Look up after the load: the loaded reply and holder may come from an attempt.
        if let Some(created) = self.applied(unsettled).await? {
            return Ok(Round::Done(created));
        }
        if let Some(answer) = beginning.replay(&loaded, now) {
            return answer.map(Round::Done);
        }
        let holder = loaded.context.holder.as_ref();
        if let Some(overdue) = holder.filter(|holder| holder.is_overdue(now)) {
            // The next round loads the current state, whether or not the expiry was recorded.
            return Round::after_expiry(self.expire(overdue.id, now).await);
        }
        if let Some(OfferOutcome::Created { operation, .. }) = unsettled.first() {
            // Reuse the id of an attempt that may have been applied, so that no second operation begins.
            loaded.context.id = operation.id;
        } else if let Some(id) = decided.id {
            loaded.context.id = id;
        }
        let new_supplier = CompanyId::new(self.ids.uuid(now));
        let operation = match beginning {
            Beginning::Offer { offer, .. } => {
                decide_offer(offer, &loaded.context, new_supplier, &self.policy, now)?
            }
            Beginning::DirectAdvance { advance, .. } => {
                decide_direct_advance(advance, &loaded.context, now)?
            }
        };
        if let Some(preparation) = beginning.preparation() {
            let prepared = preparation.prepare().await;
            if let Some(later) = prepared.map_err(ServiceError::Unprepared)? {
                *decided = Decided {
                    now: later,
                    id: Some(operation.id),
                };
                return Ok(Round::Again(Contended.into()));
            }
        }
        let created = self.created(operation.clone());
        let commit = self.opening_commit(beginning, &operation, &loaded, &created, actor);
        Ok(match self.attempt(commit, created, unsettled).await? {
            Attempt::Done(offered) => Round::Done(offered),
            Attempt::InProgress if unsettled.is_empty() => {
                return Err(ServiceError::IdempotencyInProgress);
            }
            Attempt::Conflict | Attempt::InProgress => Round::Again(Contended.into()),
            Attempt::Failed(failure) => Round::Again(failure),
        })
    }

    fn opening_commit(
        &self,
        beginning: &Beginning<'_>,
        operation: &Operation,
        loaded: &LoadedOffer,
        created: &OfferOutcome,
        actor: Actor,
    ) -> Commit {
        let now = operation.created_at;
        let event = self.opening_event(operation, beginning.action(), actor);
        let deliveries = self.deliveries(
            event.event_type,
            operation.payer.head_office,
            &loaded.subscriptions,
            now,
        );
        let write = Write::NewOperation(Box::new(operation.clone()));
        let mut commit = Commit::new(write, event, deliveries);
        if let Beginning::DirectAdvance { reply, .. } = beginning {
            commit.reply = reply.map(|reply| reply(operation));
        }
        if let Beginning::Offer { offer, key, .. } = beginning {
            commit.supplier =
                invitation(offer, operation.supplier.company, &loaded.context.supplier);
            // A supplier that is not registered is invited.
            let is_invitation = !matches!(loaded.context.supplier, KnownSupplier::Registered(_));
            let kind = if is_invitation {
                MailKind::Invitation
            } else {
                MailKind::Offer
            };
            commit.mail = Some(NewMail {
                id: MailId::new(self.ids.uuid(now)),
                kind,
                recipient: offer.supplier.email.clone(),
                content: self.render.offer_mail(operation, is_invitation),
                held_until: None,
            });
            commit.reply = key.as_ref().map(|(key, asked)| NewReply {
                scope: ReplyScope::HeadOffice(operation.payer.head_office),
                key: (*key).clone(),
                fingerprint: asked.compared(),
                body: created.body().to_owned(),
                retention: self.policy.idempotency_retention,
            });
            commit.file.clone_from(&offer.file);
        }
        commit
    }

    fn created(&self, operation: Operation) -> OfferOutcome {
        let body = self.render.reply(&operation);
        OfferOutcome::Created {
            operation: Box::new(operation),
            body,
        }
    }
}

impl Beginning<'_> {
    fn target(&self) -> OfferTarget {
        match self {
            Self::Offer { offer, key, .. } => OfferTarget {
                payer: offer.payer,
                supplier: offer.supplier.cnpj,
                invoice_number: offer.invoice.number.clone(),
                idempotency_key: key.as_ref().map(|(key, _)| (*key).clone()),
            },
            Self::DirectAdvance { advance, .. } => OfferTarget {
                payer: advance.payer,
                supplier: advance.supplier,
                invoice_number: advance.invoice.number.clone(),
                idempotency_key: None,
            },
        }
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        match self {
            Self::Offer { preparation, .. } => *preparation,
            Self::DirectAdvance { .. } => None,
        }
    }

    const fn action(&self) -> Action {
        match self {
            Self::Offer { .. } => Action::Offer,
            Self::DirectAdvance { .. } => Action::AdvanceDirectly,
        }
    }

    fn replay(
        &self,
        loaded: &LoadedOffer,
        now: Timestamp,
    ) -> Option<Result<OfferOutcome, ServiceError>> {
        let Self::Offer {
            key: Some((_, asked)),
            ..
        } = self
        else {
            return None;
        };
        let reply = loaded
            .reply
            .as_ref()
            .filter(|reply| now < reply.expires_at)?;
        if asked.include(&reply.fingerprint) {
            Some(Ok(OfferOutcome::Replayed {
                body: reply.body.clone(),
            }))
        } else {
            Some(Err(ServiceError::IdempotencyKeyReused {
                operation: Some(reply.operation),
            }))
        }
    }
}

impl OfferOutcome {
    /// The answer's body, original or replayed.
    #[must_use]
    pub fn body(&self) -> &str {
        match self {
            Self::Created { body, .. } | Self::Replayed { body } => body,
        }
    }
}

fn invitation(offer: &Offer, id: CompanyId, known: &KnownSupplier) -> Option<NewSupplier> {
    let is_first = match known {
        KnownSupplier::Unknown => true,
        KnownSupplier::InvitedByOthers(_) => false,
        KnownSupplier::Invited(_) | KnownSupplier::Registered(_) => return None,
    };
    let name = offer.supplier.name.as_ref()?;
    let contact_name = offer.supplier.contact_name.clone()?;
    Some(NewSupplier {
        id,
        is_first,
        cnpj: offer.supplier.cnpj,
        name: CompanyName::from(name),
        contact_name,
        email: offer.supplier.email.clone(),
        phone: offer.supplier.phone.clone(),
    })
}
