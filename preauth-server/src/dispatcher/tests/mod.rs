//! Common to the dispatcher's tests: a host in memory, a clock that is set by hand, and a sender
//! that plays the receivers.

mod attempts;
mod crowds;
mod distance;
mod end_to_end;
mod fairness;
mod look_ups;
mod lost_database;
mod network;
mod receiver;
mod shutdown;

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use preauth_core::memory::{DeliveryRecord, Endpoint, MemoryStore};
use preauth_core::operation::{Actor, Party};
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    AttemptError, Commit, EventRecord, Intake, NewDelivery, Outbox, Store, Write,
};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyName, DeliveryId, EndpointId, EventId, EventType, EventTypeSet, Money,
    PaymentOrderId, PaymentOrderStatus, Timestamp, Version,
};
use secrecy::SecretString;
use tokio::sync::Notify;
use uuid::Uuid;

use super::{Answer, Dispatcher, Limits, Request, Sender};
use crate::clock::Clock;
use crate::secret::Vault;

pub(super) const SECRET: &str = "whsec_0123456789abcdef01234567";

/// A clock that moves only when it is set.
pub(super) struct SetClock(Mutex<Timestamp>);

impl SetClock {
    fn advance(&self, delta: TimeDelta) {
        let mut now = self.0.lock().unwrap();
        *now = now.saturating_add(delta);
    }

    fn set(&self, moment: Timestamp) {
        *self.0.lock().unwrap() = moment;
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

type Reaction = dyn Fn(&Request) -> BoxFuture<'static, Result<Answer, AttemptError>> + Send + Sync;

/// Plays all receivers and stores the requests.
pub(super) struct Receivers {
    react: Box<Reaction>,
    sent: Mutex<Vec<Request>>,
}

impl Receivers {
    /// Receivers that answer by the function `react`.
    pub(super) fn reacting<F>(react: impl Fn(&Request) -> F + Send + Sync + 'static) -> Arc<Self>
    where
        F: Future<Output = Result<Answer, AttemptError>> + Send + 'static,
    {
        Arc::new(Self {
            react: Box::new(move |request| Box::pin(react(request))),
            sent: Mutex::default(),
        })
    }

    /// Receivers that answer immediately with a status.
    pub(super) fn answering(status: u16) -> Arc<Self> {
        Self::reacting(move |_| async move { Ok(answer(status)) })
    }

    pub(super) fn sent(&self) -> Vec<Request> {
        self.sent.lock().unwrap().clone()
    }
}

#[async_trait]
impl Sender for Receivers {
    async fn send(&self, request: Request) -> Result<Answer, AttemptError> {
        let reaction = (self.react)(&request);
        self.sent.lock().unwrap().push(request);
        reaction.await
    }
}

pub(super) fn answer(status: u16) -> Answer {
    Answer {
        status,
        retry_after: None,
        body: b"seen".to_vec(),
    }
}

/// A host in memory with its endpoints and events.
pub(super) struct World {
    pub(super) store: Arc<MemoryStore>,
    pub(super) clock: Arc<SetClock>,
    pub(super) vault: Vault,
    pub(super) wake: Arc<Notify>,
    numbers: AtomicU64,
}

impl World {
    pub(super) fn new() -> Self {
        let start = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let clock = Arc::new(SetClock(Mutex::new(start)));
        let host_clock = Arc::clone(&clock);
        Self {
            store: Arc::new(MemoryStore::new(move || host_clock.now())),
            clock,
            vault: Vault::new(&[7; 32]),
            wake: Arc::default(),
            numbers: AtomicU64::new(1),
        }
    }

    pub(super) fn dispatcher(&self, sender: Arc<dyn Sender>) -> Dispatcher {
        self.dispatcher_over(self.store.clone(), sender)
    }

    pub(super) fn dispatcher_over(
        &self,
        outbox: Arc<dyn Outbox>,
        sender: Arc<dyn Sender>,
    ) -> Dispatcher {
        let (vault, clock) = (self.vault.clone(), self.clock.clone());
        Dispatcher::new(outbox, sender, vault, clock, Arc::clone(&self.wake)).with_limits(limits())
    }

    /// Registers an endpoint that is healthy since now.
    pub(super) fn endpoint(&self, url: &str) -> EndpointId {
        self.endpoint_since(url, self.clock.now())
    }

    pub(super) fn endpoint_since(&self, url: &str, registered_at: Timestamp) -> EndpointId {
        let id = EndpointId::new(self.uuid());
        let sealed = self.vault.seal(id, &SecretString::from(SECRET)).unwrap();
        self.store.add_endpoint(Endpoint {
            id,
            head_office: CompanyId::new(Uuid::from_u128(1)),
            url: url.to_owned(),
            events: EventTypeSet::all(),
            sealed_secret: sealed.0,
            registered_at,
        });
        id
    }

    /// Records an event, with a delivery to `endpoint` that is due now.
    pub(super) async fn event(&self, endpoint: EndpointId) -> EventId {
        self.event_at(endpoint, self.clock.now()).await
    }

    pub(super) async fn event_at(&self, endpoint: EndpointId, at: Timestamp) -> EventId {
        self.commit(endpoint, at, Intake::default()).await
    }

    /// Records an event now, whose delivery `intake` may take.
    pub(super) async fn event_for(&self, endpoint: EndpointId, intake: Intake) -> EventId {
        self.commit(endpoint, self.clock.now(), intake).await
    }

    async fn commit(&self, endpoint: EndpointId, at: Timestamp, intake: Intake) -> EventId {
        let id = EventId::new(self.uuid());
        let write = Write::NewOrder {
            order: Box::new(self.order(at)),
            instead_of: None,
        };
        let event = EventRecord {
            id,
            event_type: EventType::PaymentOrderCreated,
            at,
            actor: Actor::Platform,
            body: format!("{{\"id\":\"{id}\",\"text\":\"ação\"}}"),
        };
        let delivery = NewDelivery {
            id: DeliveryId::new(self.uuid()),
            endpoint,
        };
        let mut commit = Commit::new(write, event, vec![delivery]);
        commit.intake = intake;
        self.store.commit(commit).await.unwrap();
        id
    }

    /// The one delivery of an event.
    pub(super) fn delivery(&self, event: EventId) -> DeliveryRecord {
        let mut deliveries = self.store.deliveries(event);
        assert_eq!(deliveries.len(), 1);
        deliveries.remove(0)
    }

    fn order(&self, created_at: Timestamp) -> PaymentOrder {
        let company = CompanyId::new(Uuid::from_u128(1));
        let party = Party {
            company,
            head_office: company,
            cnpj: Cnpj::parse("11222333000181").unwrap(),
            name: CompanyName::parse("Construtora Exemplo").unwrap(),
        };
        let number = i64::try_from(self.number()).unwrap();
        PaymentOrder {
            id: PaymentOrderId::new(number).unwrap(),
            version: Version::INITIAL,
            payer: party.clone(),
            supplier: party,
            amount: Money::from_cents(100).unwrap(),
            scheduled_for: None,
            operation: None,
            status: PaymentOrderStatus::Created,
            reason: None,
            created_at,
        }
    }

    fn uuid(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.number()) << 64 | 0x0123_4567_89ab_cdef)
    }

    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}

/// Small limits, which tests reach soon.
pub(super) fn limits() -> Limits {
    Limits {
        quick: NonZeroU32::new(16).unwrap(),
        slow: 0,
        to_slow: 4,
        per_endpoint: NonZeroU32::new(2).unwrap(),
        per_endpoint_when_quiet: NonZeroU32::new(2).unwrap(),
        per_endpoint_of_commits: NonZeroU32::new(2).unwrap(),
        per_endpoint_of_commits_when_crowded: 1,
        stuck_after: Duration::from_millis(100),
        lease: TimeDelta::seconds(30),
        attempt: Duration::from_secs(12),
        drain: Duration::from_secs(5),
        poll: Duration::from_millis(20),
    }
}

/// Waits for something that happens on other tasks, up to a timeout.
pub(super) async fn eventually<T>(happens: impl Future<Output = T>) -> T {
    let patience = Duration::from_secs(10);
    tokio::time::timeout(patience, happens)
        .await
        .expect("it happens in time")
}

/// Waits until `condition` holds.
pub(super) async fn until(condition: impl Fn() -> bool) {
    eventually(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}
