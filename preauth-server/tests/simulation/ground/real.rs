//! Real databases under simulated time, which is paused while one of them works.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::operation::Operation;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Archive, Attempt, Claim, Claimed, Commit, CommitError, EventFeed, FeedAnswer, FeedQuery,
    Filter, HistoryEntry, Leased, LoadedNewOrder, LoadedOffer, LoadedOperation, LoadedOrder,
    OfferTarget, OperationPage, OrderTarget, Outbox, Page, PageRequest, Pages, PlatformReply,
    Queries, Store, Unavailable, Verdict, Viewer,
};
use preauth_core::value::{
    Cnpj, DeliveryId, EndpointId, EventId, ExtensionId, IdempotencyKey, OperationId,
    PaymentOrderId, Timestamp,
};
use preauth_server::directory::{Company, DirectoryError, SealedSecret};
use preauth_server::feed::Look;
use preauth_server::store::{self, Stores};
use test_support::{Backend, Scratch};

use crate::clock::start;
use crate::defect::Defect;
use crate::scene::Scene;

use super::mails::MailsInRealTime;
use super::{Desk, Ground, Kind, NewRecord, Record};

/// How long real work may take before simulated time advances.
const PATIENCE: Duration = Duration::from_millis(20);
/// The step it then advances by: several calls may wait at once, and none may time out because of
/// it.
const STEP: Duration = Duration::from_millis(5);

/// One instance's connection to a database.
struct Real {
    stores: Stores,
    archive: Box<dyn Archive>,
    database: Arc<Scratch>,
    scene: Scene,
}

/// A fresh database; each instance has its own connections to PostgreSQL.
pub(super) async fn prepare(
    kind: Kind,
    scene: &Scene,
    instances: usize,
    defect: Option<Defect>,
) -> Vec<Ground> {
    in_real_time(async {
        let database = Arc::new(fresh(kind).await);
        let loses = match defect {
            Some(Defect::DeliveryRowsLost) => Some("deliveries"),
            Some(Defect::MailRowsLost) => Some("notices"),
            _ => None,
        };
        if let Some(table) = loses {
            lose_rows(&database, kind, table).await;
        }
        let mut grounds: Vec<Ground> = Vec::new();
        for number in 0..instances {
            if let (Kind::Sqlite, Some(only)) = (kind, grounds.first()) {
                grounds.push(only.clone());
                continue;
            }
            let stores = store::open(&database.url()).await.unwrap();
            if number == 0 {
                scene.settle(&stores).await;
            }
            let mails = Arc::new(MailsInRealTime(Arc::clone(&stores.mails)));
            let real = Real {
                stores,
                archive: store::archive(&database.url()).await.unwrap(),
                database: Arc::clone(&database),
                scene: scene.clone(),
            };
            grounds.push(Ground::of(Arc::new(real), mails));
        }
        grounds
    })
    .await
}

async fn fresh(kind: Kind) -> Scratch {
    let kind = match kind {
        Kind::Postgres => Backend::Postgres,
        Kind::Memory | Kind::Sqlite => Backend::Sqlite,
    };
    let database = Scratch::empty(kind).await;
    store::migrate(&database.url()).await.unwrap();
    database
}

/// Makes the database drop one new row of a table in eight, without an error.
async fn lose_rows(database: &Scratch, kind: Kind, table: &str) {
    let before = format!("CREATE TRIGGER lose BEFORE INSERT ON {table}");
    match kind {
        Kind::Postgres => {
            let function = "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$
                 BEGIN RETURN CASE WHEN random() < 0.125 THEN NULL ELSE NEW END; END $$";
            let trigger = format!("{before} FOR EACH ROW EXECUTE FUNCTION lose()");
            database.execute(&[function, &trigger]).await;
        }
        Kind::Memory | Kind::Sqlite => {
            let when = "WHEN abs(random()) % 8 = 0 BEGIN SELECT RAISE(IGNORE); END";
            database.execute(&[&format!("{before} {when}")]).await;
        }
    }
}

/// Pauses simulated time while real work is awaited: an idle runtime would jump to the next timer.
/// Work that waits for a timer itself, such as a lock timeout, advances time in small steps.
pub(super) async fn in_real_time<T>(work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    loop {
        let (done, until) = mpsc::channel::<()>();
        // The paused clock does not advance while a blocking task runs.
        let patience = tokio::task::spawn_blocking(move || until.recv_timeout(PATIENCE));
        tokio::select! {
            biased;
            outcome = &mut work => {
                drop(done);
                return outcome;
            }
            _ = patience => tokio::time::advance(STEP).await,
        }
    }
}

impl Real {
    async fn set_paused(&self, endpoint: EndpointId, is_paused: bool, at: Timestamp) {
        let company = self.scene.subscriber_of(endpoint).company;
        let directory = &self.stores.directory;
        let set = directory.set_endpoint_paused(company, is_paused, at);
        in_real_time(set).await.unwrap();
    }
}

#[async_trait]
impl Desk for Real {
    async fn pause(&self, endpoint: EndpointId, at: Timestamp) {
        self.set_paused(endpoint, true, at).await;
    }

    async fn resume(&self, endpoint: EndpointId, at: Timestamp) {
        self.set_paused(endpoint, false, at).await;
    }

    async fn resend(&self, delivery: DeliveryId, at: Timestamp) -> bool {
        let resent = self.stores.directory.resend(delivery, at);
        in_real_time(resent).await.is_ok()
    }

    async fn rotate(
        &self,
        endpoint: EndpointId,
        sealed: SealedSecret,
        at: Timestamp,
        others_until: Timestamp,
    ) {
        let directory = &self.stores.directory;
        let rotated = directory.rotate_secret(endpoint, &sealed, at, others_until);
        in_real_time(rotated).await.unwrap();
    }

    async fn move_to(&self, endpoint: EndpointId, url: String) {
        let subscriber = self.scene.subscriber_of(endpoint);
        let directory = &self.stores.directory;
        let moved = directory.update_endpoint(subscriber.company, &url, subscriber.events);
        in_real_time(moved).await.unwrap();
    }

    async fn reserve_extension(&self) -> ExtensionId {
        let reserved = self.stores.directory.reserve_extension();
        in_real_time(reserved).await.unwrap()
    }

    fn promoted(&self, _skipped: i64) -> Option<Ground> {
        None
    }

    async fn advance_leases(&self, by: TimeDelta) {
        let by_ms = by.num_milliseconds();
        let statement = |table| {
            format!(
                "UPDATE {table} SET leased_until = leased_until - {by_ms}
                 WHERE leased_until IS NOT NULL"
            )
        };
        let (deliveries, mails) = (statement("deliveries"), statement("notices"));
        in_real_time(self.database.execute(&[&deliveries, &mails])).await;
    }

    async fn register(&self, new: NewRecord) -> Result<(), DirectoryError> {
        let (directory, reply) = (&self.stores.directory, new.reply.as_ref());
        match &new.record {
            Record::Company(company) => in_real_time(directory.add_company(company, reply)).await,
            Record::ApiKey(key, hash) => {
                in_real_time(directory.add_api_key(key, hash, reply)).await
            }
        }
    }

    async fn company_by_cnpj(&self, cnpj: &Cnpj) -> Result<Option<Company>, Unavailable> {
        in_real_time(self.stores.directory.company_by_cnpj(cnpj)).await
    }

    async fn registered(&self) -> BTreeSet<String> {
        let (directory, payer) = (&self.stores.directory, self.scene.payer);
        let everything = PageRequest {
            page: 1,
            limit: 100,
        };
        let companies = in_real_time(directory.companies(everything)).await;
        let keys = in_real_time(directory.api_keys(payer, everything)).await;
        let companies = companies.unwrap().items.into_iter();
        let new =
            companies.filter(|it| self.scene.subscribers.iter().all(|of| of.company != it.id));
        let keys = keys.unwrap().items.into_iter().map(|it| it.id.to_string());
        new.map(|it| it.id.to_string()).chain(keys).collect()
    }

    fn reply(&self, _key: &IdempotencyKey) -> Option<PlatformReply> {
        None
    }
}

#[async_trait]
impl Store for Real {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        in_real_time(self.stores.store.load_offer(target)).await
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        in_real_time(self.stores.store.load_operation(id)).await
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        in_real_time(self.stores.store.load_overdue(now, limit)).await
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedNewOrder>, Unavailable> {
        in_real_time(self.stores.store.load_new_order(target)).await
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        in_real_time(self.stores.store.load_order(id)).await
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        in_real_time(self.stores.store.has_event(id)).await
    }

    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        in_real_time(self.stores.store.load_platform_reply(key)).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        in_real_time(self.stores.store.commit(commit)).await
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        in_real_time(self.stores.store.commit_all(commits)).await
    }
}

#[async_trait]
impl Outbox for Real {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable> {
        in_real_time(self.stores.outbox.claim(claim)).await
    }

    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        in_real_time(self.stores.outbox.finish(leased, attempt, verdict)).await
    }

    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable> {
        in_real_time(self.stores.outbox.note_slow(endpoints)).await
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        in_real_time(self.stores.outbox.release(leased)).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        in_real_time(self.stores.outbox.next_due()).await
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        in_real_time(self.stores.outbox.bring_forward(now, limit)).await
    }
}

#[async_trait]
impl Queries for Real {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        in_real_time(self.stores.queries.find(viewer, id)).await
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        in_real_time(self.stores.queries.list(viewer, filter, page)).await
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        in_real_time(self.stores.queries.history(id)).await
    }
}

#[async_trait]
impl EventFeed for Real {
    async fn events(&self, query: &FeedQuery) -> Result<FeedAnswer, Unavailable> {
        in_real_time(async {
            let look = Look {
                now: start(),
                kept_since: start(),
                since: None,
            };
            self.stores.numbers.number(look).await?;
            self.stores.feed.events(query).await
        })
        .await
    }
}

#[async_trait]
impl Archive for Real {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        let pages = in_real_time(self.archive.pages()).await?;
        Ok(Box::new(InRealTime(pages)))
    }
}

struct InRealTime(Box<dyn Pages>);

#[async_trait]
impl Pages for InRealTime {
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable> {
        in_real_time(self.0.next(limit)).await
    }
}
