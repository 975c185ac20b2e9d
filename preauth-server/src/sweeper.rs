//! The expiry sweeper: records expiries by the offers' own deadline, `expiresAt`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::service::{ExpiryReport, Operations};
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::hold::Hold;
use crate::log::{self, chain};
use crate::worker::{LoopHealth, Next, Shutdown, repeat};

/// Offers recorded in one step.
const BATCH: u32 = 2000;
/// Pause between two steps; an expiry must be recorded within 5 s.
const REST: Duration = Duration::from_secs(1);
/// A batch of expiries, each with all its retries, on a database that times out for every one of
/// them.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(5);

/// Records the expiry of overdue offers; any number of instances may run concurrently.
///
/// [`run_once`](Self::run_once) is a single step, [`run`](Self::run) the loop.
pub struct Sweeper {
    service: Arc<Operations>,
    clock: Arc<dyn Clock>,
    wake: Arc<Notify>,
    hold: Hold,
    health: Arc<LoopHealth>,
}

impl Sweeper {
    /// A sweeper of a store's offers.
    #[must_use]
    pub fn new(service: Arc<Operations>, clock: Arc<dyn Clock>) -> Self {
        Self {
            service,
            clock,
            wake: Arc::default(),
            hold: Hold::default(),
            health: Arc::new(LoopHealth::new("sweeper", STALLS_AFTER)),
        }
    }

    /// The same sweeper, which makes a step when `wake` is notified.
    #[must_use]
    pub fn woken_by(self, wake: Arc<Notify>) -> Self {
        Self { wake, ..self }
    }

    /// The same sweeper, which pauses while the instance is held.
    #[must_use]
    pub fn held_by(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    /// Records the expiry of at most 2,000 overdue offers, and returns their number.
    ///
    /// Offers that others closed in the meantime are not counted. One that could not be recorded is
    /// overdue again at the next step; only a failed search is an error.
    pub async fn run_once(&self) -> Result<usize, Unavailable> {
        Ok(self.sweep().await?.expired.len())
    }

    /// Runs until shutdown is requested.
    pub async fn run(&self, shutdown: Shutdown) {
        repeat(
            &self.health,
            &self.hold,
            REST,
            &self.wake,
            shutdown,
            || async {
                let report = self.sweep().await?;
                Ok(next(&report))
            },
        )
        .await;
    }

    /// The health of the loop.
    #[must_use]
    pub fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }

    async fn sweep(&self) -> Result<ExpiryReport, Unavailable> {
        let report = self.service.expire_overdue(self.clock.now(), BATCH).await?;
        for expired in &report.expired {
            log::moved(expired, None);
        }
        if let Some((operation, error)) = report.failed.first() {
            let (count, first) = (report.failed.len(), operation.get());
            let error = chain(error.as_ref());
            tracing::warn!(target: "sweeper", count, first, error, "expiries not recorded");
        }
        Ok(report)
    }
}

impl fmt::Debug for Sweeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweeper").finish_non_exhaustive()
    }
}

/// There may be more, unless others closed all that was found. One that closed a part goes on, however small it is: instances
/// in step share each batch, and would all rest if they needed most of it.
fn next(report: &ExpiryReport) -> Next {
    if report.expired.is_empty() {
        Next::AfterRest
    } else {
        Next::AtOnce
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::Mutex;
    use std::time::Duration;

    use chrono::{Days, TimeDelta};
    use preauth_core::Policy;
    use preauth_core::memory::{Company, CountingIds, MemoryStore};
    use preauth_core::operation::{
        Actor, Command, Credit, Invoice, InvoiceAmounts, Offer, OfferedSupplier, Operation,
    };
    use preauth_core::port::{
        InvoiceEvent, OperationEvent, OrderEvent, Queries, Render, Store, Viewer,
    };
    use preauth_core::service::{OfferOutcome, Operations};
    use preauth_core::value::{
        Cnpj, CompanyId, CompanyKind, CompanyName, ContactName, DueDate, Email, EventId, EventType,
        InvoiceNumber, Money, OperationId, Status, SupplierName, Timestamp, calendar,
    };
    use uuid::Uuid;

    use super::{Sweeper, next};
    use crate::clock::Clock;
    use crate::worker::{Next, shutdown};

    struct SetClock(Mutex<Timestamp>);

    impl Clock for SetClock {
        fn now(&self) -> Timestamp {
            *self.0.lock().unwrap()
        }
    }

    struct NoTexts;

    impl Render for NoTexts {
        fn reply(&self, _: &Operation) -> String {
            String::new()
        }
        fn operation_event(&self, _: &OperationEvent<'_>) -> String {
            String::new()
        }
        fn order_event(&self, _: &OrderEvent<'_>) -> String {
            String::new()
        }
        fn invoice_event(&self, _: &InvoiceEvent<'_>) -> String {
            String::new()
        }
        fn test_event(&self, _: EventId, _: Timestamp) -> String {
            String::new()
        }
        fn offer_mail(&self, _: &Operation, _: bool) -> String {
            String::new()
        }
    }

    struct World {
        store: Arc<MemoryStore>,
        service: Arc<Operations>,
        clock: Arc<SetClock>,
        payer: CompanyId,
    }

    impl World {
        fn new() -> Self {
            let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
            let store = Arc::new(MemoryStore::new(move || now));
            let payer = CompanyId::new(Uuid::from_u128(1));
            store.add_company(Company {
                id: payer,
                head_office: None,
                cnpj: Cnpj::parse("11222333000181").unwrap(),
                name: CompanyName::parse("Construtora Exemplo").unwrap(),
                kind: CompanyKind::Construction,
            });
            let credit = Credit {
                max_term_days: 180,
                max_invoice_amount: Money::parse("100000").unwrap(),
            };
            store.set_credit(payer, credit);
            let service = Operations::new(
                store.clone(),
                Arc::new(CountingIds::in_namespace(2)),
                Arc::new(NoTexts),
                Policy::default(),
            );
            Self {
                store,
                service: Arc::new(service),
                clock: Arc::new(SetClock(Mutex::new(now))),
                payer,
            }
        }

        fn sweeper(&self) -> Sweeper {
            Sweeper::new(Arc::clone(&self.service), self.clock.clone())
        }

        async fn offer(&self, number: u32) -> OperationId {
            let now = self.clock.now();
            let due = calendar::today(now)
                .checked_add_days(Days::new(60))
                .unwrap();
            let offer = Offer {
                payer: self.payer,
                supplier: OfferedSupplier {
                    cnpj: Cnpj::parse("12ABC34501DE35").unwrap(),
                    email: Email::parse("financeiro@fornecedor.com.br").unwrap(),
                    name: Some(SupplierName::parse("Fornecedor").unwrap()),
                    contact_name: Some(ContactName::parse("Ana").unwrap()),
                    phone: None,
                },
                invoice: Invoice {
                    amounts: InvoiceAmounts::from_cents(Money::parse("1000").unwrap(), Money::ZERO)
                        .unwrap(),
                    due_date: DueDate::from_date(due).unwrap(),
                    number: Some(InvoiceNumber::parse(&format!("NF-{number}")).unwrap()),
                },
                external_reference: None,
                file: None,
            };
            match self
                .service
                .offer(&offer, Actor::Company, None, now)
                .await
                .unwrap()
            {
                OfferOutcome::Created { operation, .. } => operation.id,
                OfferOutcome::Replayed { .. } => panic!("nothing is replayed without a key"),
            }
        }

        async fn status(&self, id: OperationId) -> Status {
            let found = self.store.find(Viewer::Platform, id).await.unwrap();
            found.unwrap().status()
        }

        fn days_pass(&self, days: i64) {
            let mut now = self.clock.0.lock().unwrap();
            *now = now.saturating_add(TimeDelta::days(days));
        }
    }

    // Contract: transition/expiry
    #[tokio::test]
    async fn overdue_offers_expire_and_others_do_not() {
        let world = World::new();
        let (first, second) = (world.offer(1).await, world.offer(2).await);
        let request = world.service.command(
            Viewer::Platform,
            second,
            &Command::Request,
            Actor::Supplier,
            world.clock.now(),
        );
        request.await.unwrap();
        let sweeper = world.sweeper();
        assert_eq!(sweeper.run_once().await.unwrap(), 0);
        world.days_pass(31);
        let late = world.offer(3).await;
        assert_eq!(sweeper.run_once().await.unwrap(), 1);
        assert_eq!(sweeper.run_once().await.unwrap(), 0);
        assert_eq!(world.status(first).await, Status::Reproved);
        assert_eq!(world.status(second).await, Status::ToApprove);
        assert_eq!(world.status(late).await, Status::InPreAuth);
        let history = world.store.history(first).await.unwrap();
        assert_eq!(history[1].event_type, EventType::PreAuthorizationExpired);
        assert_eq!(history[1].actor, Actor::System);
    }

    #[tokio::test]
    async fn two_sweepers_record_each_expiry_once() {
        let world = World::new();
        for number in 0..50 {
            world.offer(number).await;
        }
        world.days_pass(31);
        let (one, other) = (world.sweeper(), world.sweeper());
        let (one, other) = tokio::join!(one.run_once(), other.run_once());
        assert_eq!(one.unwrap().saturating_add(other.unwrap()), 50);
    }

    #[tokio::test]
    async fn one_that_closed_the_smaller_part_of_a_batch_goes_on() {
        let world = World::new();
        world.offer(1).await;
        world.days_pass(31);
        let sweep = || world.service.expire_overdue(world.clock.now(), 2);
        let mut report = sweep().await.unwrap();
        report.closed_by_others = 1_999;
        assert_eq!(next(&report), Next::AtOnce);
        let nothing = sweep().await.unwrap();
        assert_eq!(next(&nothing), Next::AfterRest);
    }

    #[tokio::test]
    async fn more_than_one_batch_is_swept_without_a_rest() {
        let world = World::new();
        for number in 0..2001 {
            world.offer(number).await;
        }
        world.days_pass(31);
        let sweeper = world.sweeper();
        let (trigger, watching) = shutdown();
        let watch = async {
            let now = world.clock.now();
            while !world.store.load_overdue(now, 1).await.unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            trigger.request();
        };
        let both = async { tokio::join!(sweeper.run(watching), watch) };
        tokio::time::timeout(Duration::from_secs(10), both)
            .await
            .unwrap();
    }
}
