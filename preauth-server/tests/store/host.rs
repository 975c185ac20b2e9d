//! A database for the conformance suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::conformance::{Host, Task};
use preauth_core::memory::{Company, DeliveryRecord, Endpoint};
use preauth_core::operation::{Credit, InvoiceFile};
use preauth_core::port::{
    EventFeed, FeedAnswer, FeedQuery, IdSource, MailKind, Outbox, Queries, Store, Unavailable,
};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyName, Email, EndpointId, EventId, OperationId, PermissionSet,
    PersonName, Timestamp, UserId,
};
use preauth_server::directory;
use preauth_server::feed::{EventNumbers, Look};
use preauth_server::ids::RandomIds;
use preauth_server::store::{Stores, open};

use crate::database::{Database, Sql};
use crate::records;

/// A store on a fresh database, and direct access to it without the store.
pub(crate) struct DatabaseHost {
    stores: Stores,
    sql: Sql,
    _database: Database,
    fresh: AtomicU32,
}

impl DatabaseHost {
    pub(crate) async fn new() -> Self {
        let database = Database::fresh().await;
        let stores = open(&database.url()).await.unwrap();
        Self {
            stores,
            sql: database.sql().await,
            _database: database,
            fresh: AtomicU32::new(0),
        }
    }

    async fn set_paused(&self, id: EndpointId, paused: bool) {
        let company = records::company_of(&self.sql, id).await;
        // The latest moment, so that resuming changes no due time: the suite resumes without a
        // time.
        self.stores
            .directory
            .set_endpoint_paused(company, paused, Timestamp::MAX)
            .await
            .unwrap();
    }
}

/// The events, numbered before each answer.
struct Numbered {
    feed: Arc<dyn EventFeed>,
    numbers: Arc<dyn EventNumbers>,
}

#[async_trait]
impl EventFeed for Numbered {
    async fn events(&self, query: &FeedQuery) -> Result<FeedAnswer, Unavailable> {
        let look = Look {
            now: Timestamp::MIN,
            kept_since: Timestamp::MIN,
            since: None,
        };
        self.numbers.number(look).await?;
        self.feed.events(query).await
    }
}

#[async_trait]
impl Host for DatabaseHost {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.stores.store)
    }

    fn outbox(&self) -> Arc<dyn Outbox> {
        Arc::clone(&self.stores.outbox)
    }

    fn queries(&self) -> Arc<dyn Queries> {
        Arc::clone(&self.stores.queries)
    }

    fn feed(&self) -> Arc<dyn EventFeed> {
        Arc::new(Numbered {
            feed: Arc::clone(&self.stores.feed),
            numbers: Arc::clone(&self.stores.numbers),
        })
    }

    fn fresh(&self) -> u32 {
        self.fresh.fetch_add(1, Ordering::SeqCst)
    }

    async fn join_all(&self, tasks: Vec<Task>) {
        let started: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
        for task in started {
            task.await.unwrap();
        }
    }

    async fn add_company(&self, company: Company) {
        let company = directory::Company {
            id: company.id,
            cnpj: company.cnpj,
            name: company.name,
            kind: company.kind,
            head_office: company.head_office,
            contact: None,
            is_invited: false,
            created_at: Timestamp::MIN,
            suspension: None,
        };
        self.stores
            .directory
            .add_company(&company, None)
            .await
            .unwrap();
    }

    async fn rename_company(&self, id: CompanyId, name: CompanyName) {
        let renamed = self.stores.directory.rename_company(id, &name).await;
        assert_eq!(renamed.unwrap().name, name);
    }

    async fn set_credit(&self, head_office: CompanyId, credit: Credit) {
        self.stores
            .directory
            .set_credit(head_office, credit, Timestamp::MIN)
            .await
            .unwrap();
    }

    async fn block_supplier(&self, head_office: CompanyId, supplier: Cnpj) {
        self.stores
            .directory
            .block_supplier(head_office, &supplier, Timestamp::MIN)
            .await
            .unwrap();
    }

    async fn add_reader(&self, head_office: CompanyId, email: Email) {
        let user = directory::User {
            id: UserId::new(RandomIds.uuid(Timestamp::MIN)),
            company: head_office,
            name: PersonName::parse("Ana Leitora").unwrap(),
            email,
            permissions: PermissionSet::default(),
            active: true,
            created_at: Timestamp::MIN,
        };
        self.stores.directory.add_user(&user, None).await.unwrap();
    }

    async fn add_endpoint(&self, endpoint: Endpoint) {
        let secret = directory::SealedSecret(endpoint.sealed_secret);
        let endpoint = directory::Endpoint {
            id: endpoint.id,
            company: endpoint.head_office,
            url: endpoint.url,
            events: endpoint.events,
            paused_at: None,
            created_at: endpoint.registered_at,
            last_success_at: None,
            earlier_secrets_until: None,
        };
        self.stores
            .directory
            .add_endpoint(&endpoint, &secret)
            .await
            .unwrap();
    }

    async fn pause_endpoint(&self, id: EndpointId) {
        self.set_paused(id, true).await;
    }

    async fn resume_endpoint(&self, id: EndpointId) {
        self.set_paused(id, false).await;
    }

    async fn delete_endpoint(&self, id: EndpointId) {
        let company = records::company_of(&self.sql, id).await;
        self.stores
            .directory
            .delete_endpoint(company, Timestamp::MIN)
            .await
            .unwrap();
    }

    async fn deliveries(&self, event: EventId) -> Vec<DeliveryRecord> {
        records::deliveries(&self.sql, event).await
    }

    async fn mails_to(&self, recipient: &Email) -> Vec<(MailKind, String)> {
        records::mails_to(&self.sql, recipient).await
    }

    async fn invoice_file(&self, operation: OperationId) -> Option<InvoiceFile> {
        records::invoice_file(&self.sql, operation).await
    }

    async fn advance_lease_clock(&self, by: TimeDelta) {
        records::bring_lease_ends_forward(&self.sql, by).await;
    }
}
