//! The host in memory as the suite wants it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::conformance::{Host, Task};
use preauth_core::memory::{Company, DeliveryRecord, Endpoint, MemoryStore};
use preauth_core::operation::{Credit, InvoiceFile};
use preauth_core::port::{EventFeed, MailKind, Outbox, Queries, Store};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyName, Email, EndpointId, EventId, OperationId, Timestamp,
};

pub(crate) struct MemoryHost {
    store: Arc<MemoryStore>,
    lease_clock_ms: Arc<AtomicI64>,
    fresh: AtomicU32,
}

impl MemoryHost {
    pub(crate) fn new() -> Self {
        let lease_clock_ms = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&lease_clock_ms);
        let now = move || Timestamp::from_unix_millis(clock.load(Ordering::SeqCst)).unwrap();
        Self {
            store: Arc::new(MemoryStore::new(now)),
            lease_clock_ms,
            fresh: AtomicU32::new(0),
        }
    }
}

#[async_trait]
impl Host for MemoryHost {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    fn outbox(&self) -> Arc<dyn Outbox> {
        self.store.clone()
    }

    fn queries(&self) -> Arc<dyn Queries> {
        self.store.clone()
    }

    fn feed(&self) -> Arc<dyn EventFeed> {
        self.store.clone()
    }

    fn fresh(&self) -> u32 {
        self.fresh.fetch_add(1, Ordering::SeqCst)
    }

    /// One thread for each task: nothing in memory ever waits, so one thread would take turns.
    async fn join_all(&self, tasks: Vec<Task>) {
        std::thread::scope(|scope| {
            for task in tasks {
                scope.spawn(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().build();
                    runtime.unwrap().block_on(task);
                });
            }
        });
    }

    async fn add_company(&self, company: Company) {
        self.store.add_company(company);
    }

    async fn rename_company(&self, id: CompanyId, name: CompanyName) {
        self.store.rename_company(id, name);
    }

    async fn set_credit(&self, head_office: CompanyId, credit: Credit) {
        self.store.set_credit(head_office, credit);
    }

    async fn block_supplier(&self, head_office: CompanyId, supplier: Cnpj) {
        self.store.block_supplier(head_office, supplier);
    }

    async fn add_reader(&self, head_office: CompanyId, email: Email) {
        self.store.add_reader(head_office, email);
    }

    async fn add_endpoint(&self, endpoint: Endpoint) {
        self.store.add_endpoint(endpoint);
    }

    async fn pause_endpoint(&self, id: EndpointId) {
        self.store.pause_endpoint(id);
    }

    async fn resume_endpoint(&self, id: EndpointId) {
        self.store.resume_endpoint(id);
    }

    async fn delete_endpoint(&self, id: EndpointId) {
        self.store.delete_endpoint(id);
    }

    async fn deliveries(&self, event: EventId) -> Vec<DeliveryRecord> {
        self.store.deliveries(event)
    }

    async fn mails_to(&self, recipient: &Email) -> Vec<(MailKind, String)> {
        let mails = self.store.mails().into_iter();
        let to = mails.filter(|mail| mail.recipient == *recipient);
        to.map(|mail| (mail.kind, mail.content)).collect()
    }

    async fn invoice_file(&self, operation: OperationId) -> Option<InvoiceFile> {
        self.store.invoice_file(operation)
    }

    async fn advance_lease_clock(&self, by: TimeDelta) {
        self.lease_clock_ms
            .fetch_add(by.num_milliseconds(), Ordering::SeqCst);
    }
}
