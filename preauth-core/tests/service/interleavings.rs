//! Everybody reads before anybody writes: the interleaving that finds a check without a constraint.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::Policy;
use preauth_core::memory::{CountingIds, MemoryStore};
use preauth_core::operation::{Actor, Operation, Rejection};
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, InvoiceEvent, LoadedNewOrder, LoadedOffer, LoadedOperation, LoadedOrder,
    OfferTarget, OperationEvent, OrderEvent, OrderTarget, PlatformReply, Render, Store,
    Unavailable,
};
use preauth_core::service::{OfferOutcome, Operations, ServiceError};
use preauth_core::value::{EventId, IdempotencyKey, OperationId, PaymentOrderId, Timestamp};
use tokio::task::{JoinSet, yield_now};

use crate::given::{Given, given};

/// Lets everybody else go first, before every call. On one thread, the order is always the same.
struct Polite(Arc<MemoryStore>);

#[async_trait]
impl Store for Polite {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        yield_now().await;
        self.0.load_offer(target).await
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        yield_now().await;
        self.0.load_operation(id).await
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        yield_now().await;
        self.0.load_overdue(now, limit).await
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable> {
        yield_now().await;
        self.0.load_new_order(target).await
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        yield_now().await;
        self.0.load_order(id).await
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        yield_now().await;
        self.0.has_event(id).await
    }

    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        yield_now().await;
        self.0.load_platform_reply(key).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        yield_now().await;
        self.0.commit(commit).await
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        let mut outcomes = Vec::with_capacity(commits.len());
        for commit in commits {
            outcomes.push(self.commit(commit).await);
        }
        outcomes
    }
}

struct Silent;

impl Render for Silent {
    fn reply(&self, operation: &Operation) -> String {
        operation.id.to_string()
    }

    fn operation_event(&self, _event: &OperationEvent<'_>) -> String {
        String::new()
    }

    fn order_event(&self, _event: &OrderEvent<'_>) -> String {
        String::new()
    }

    fn invoice_event(&self, _event: &InvoiceEvent<'_>) -> String {
        String::new()
    }

    fn test_event(&self, _id: EventId, _at: Timestamp) -> String {
        String::new()
    }

    fn offer_mail(&self, _operation: &Operation, _is_invitation: bool) -> String {
        String::new()
    }
}

/// One of several instances of the service over one store.
fn instance(given: &Given, n: usize) -> Operations {
    let store = &given.faulty.inner;
    Operations::new(
        Arc::new(Polite(Arc::clone(store))),
        Arc::new(CountingIds::in_namespace(100 + u64::try_from(n).unwrap())),
        Arc::new(Silent),
        Policy::default(),
    )
}

/// A hundred instances, each as a process of its own, all sending the same offer.
async fn a_hundred_offers(
    given: &Given,
    key_of: impl Fn(usize) -> IdempotencyKey,
) -> Vec<Result<OfferOutcome, ServiceError>> {
    let (offer, now) = (Given::offer("NF-1"), given.now);
    let mut tasks = JoinSet::new();
    for n in 0_usize..100 {
        let service = instance(given, n);
        let (offer, key) = (offer.clone(), key_of(n));
        tasks.spawn(async move { service.offer(&offer, Actor::Company, Some(&key), now).await });
    }
    tasks.join_all().await
}

#[tokio::test]
async fn one_key_from_a_hundred_instances_creates_once_and_is_answered_alike() {
    let given = given();
    let outcomes = a_hundred_offers(&given, |_| crate::given::key()).await;
    let stored = given.stored().await;
    assert_eq!(stored.len(), 1);
    let replayed =
        |outcome: &&Result<OfferOutcome, _>| matches!(outcome, Ok(OfferOutcome::Replayed { .. }));
    assert_eq!(outcomes.iter().filter(replayed).count(), 99);
    for outcome in outcomes {
        assert_eq!(outcome.unwrap().body(), stored[0].id.to_string());
    }
}

#[tokio::test]
async fn one_invoice_from_a_hundred_instances_is_created_once_and_named_to_the_others() {
    let given = given();
    let key = |n| IdempotencyKey::parse(&format!("invoice:{n:04}")).unwrap();
    let outcomes = a_hundred_offers(&given, key).await;
    let stored = given.stored().await;
    assert_eq!(stored.len(), 1);
    let mut duplicates = 0_u32;
    for outcome in outcomes {
        if let Err(error) = outcome {
            let ServiceError::Rejected(Rejection::DuplicateInvoice { existing }) = error else {
                panic!("{error:?}");
            };
            assert_eq!(existing, stored[0].id);
            duplicates += 1;
        }
    }
    assert_eq!(duplicates, 99);
}

// Contract: create-call/still-processed error-code-of-ours/IDEMPOTENCY_IN_PROGRESS
#[tokio::test]
async fn a_key_whose_first_request_is_under_way_is_refused_and_replays_afterwards() {
    let given = given();
    let service = instance(&given, 0);
    let (offer, key) = (Given::offer("NF-1"), crate::given::key());
    let send = || service.offer(&offer, Actor::Company, Some(&key), given.now);
    // The first one stands before its read when the second one comes.
    let (first, second) = tokio::join!(send(), send());
    let Ok(OfferOutcome::Created { body, .. }) = first else {
        panic!("{first:?}");
    };
    assert!(
        matches!(second, Err(ServiceError::IdempotencyInProgress)),
        "{second:?}"
    );
    assert_eq!(send().await.unwrap(), OfferOutcome::Replayed { body });
}
