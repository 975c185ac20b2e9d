//! Steps before a commit that take their time: what was decided before them is decided again.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::memory::MemoryStore;
use preauth_core::operation::{Actor, Rejection};
use preauth_core::service::{OfferOutcome, Preparation, ServiceError};
use preauth_core::value::Timestamp;

use crate::given::{Given, created, given, payer, supplier};

/// Takes its time once; meanwhile something happens.
struct Slow<'a> {
    ends_at: Timestamp,
    meanwhile: &'a (dyn Fn() + Send + Sync),
    calls: AtomicU32,
}

#[async_trait]
impl Preparation for Slow<'_> {
    async fn prepare(&self) -> Result<Option<Timestamp>, Box<dyn Error + Send + Sync>> {
        let is_first = self.calls.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first {
            (self.meanwhile)();
        }
        Ok(is_first.then_some(self.ends_at))
    }
}

async fn offered(
    given: &Given,
    takes: TimeDelta,
    meanwhile: &(dyn Fn() + Send + Sync),
) -> Result<OfferOutcome, ServiceError> {
    let slow = Slow {
        ends_at: given.now.saturating_add(takes),
        meanwhile,
        calls: AtomicU32::new(0),
    };
    let offer = Given::offer("NF-1");
    let service = &given.service;
    let offered = service
        .offer_prepared(&offer, Actor::Company, None, Some(&slow), given.now)
        .await;
    assert_eq!(slow.calls.into_inner(), if offered.is_ok() { 2 } else { 1 });
    offered
}

#[tokio::test]
async fn an_offer_begins_when_its_preparation_has_ended() {
    let given = given();
    let takes = TimeDelta::seconds(40);
    let operation = created(offered(&given, takes, &|| ()).await);
    assert_eq!(operation.created_at, given.now.saturating_add(takes));
    assert_eq!(given.stored().await, [operation]);
}

#[tokio::test]
async fn a_supplier_that_was_blocked_meanwhile_is_offered_nothing() {
    let given = given();
    let store: Arc<MemoryStore> = given.faulty.inner.clone();
    let block = || store.block_supplier(payer(), supplier());
    let refused = offered(&given, TimeDelta::seconds(40), &block).await;
    let Err(ServiceError::Rejected(Rejection::SupplierBlocked)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(given.stored().await, []);
}

#[tokio::test]
async fn an_offer_that_would_be_over_by_then_is_refused() {
    let given = given();
    let refused = offered(&given, TimeDelta::days(90), &|| ()).await;
    let Err(ServiceError::Rejected(Rejection::DueDateTooNear)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(given.stored().await, []);
}
