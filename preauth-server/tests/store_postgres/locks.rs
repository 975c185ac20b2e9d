//! Locked rows: only commits that need them wait.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::operation::{Actor, Command};
use preauth_core::port::{Claim, Leased, Viewer};
use preauth_core::service::ServiceError;
use preauth_core::value::{CompanyId, IdempotencyKey};
use preauth_server::access::RateLimit;
use preauth_server::directory::{KeptSecret, Replaced, ResealedSecret, SealedSecret};
use preauth_server::mail::LeasedMail;
use sqlx::postgres::{PgConnection, Postgres};
use sqlx::{AssertSqlSafe, Connection, Executor, Transaction};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::records;
use crate::store::deliveries::deliver;
use crate::store::fixture::Fixture;
use crate::store::mails::{claim, lease_by};

/// Commits of other companies in one measurement.
const COMMITS: u32 = 60;
/// Maximum slowdown of others beside a held lock: the machine has other work, too.
const MAX_SLOWDOWN: u32 = 3;
/// A delay that is tolerated once: some locks show only by a timeout, after which the group is
/// split. Below it the ratio of two measurements is meaningless. Each wait for a held row would
/// take 5 seconds.
const NOISE: Duration = Duration::from_secs(2);

/// A transaction of the test that holds the locks of `sql`.
pub(super) struct Holder(Transaction<'static, Postgres>);

impl Holder {
    pub(super) async fn of(fixture: &Fixture, sql: &str) -> Self {
        let mut transaction = fixture.sql.begin().await.unwrap();
        let locked = transaction
            .execute(AssertSqlSafe(sql.to_owned()))
            .await
            .unwrap();
        assert!(locked.rows_affected() > 0, "{sql}");
        Self(transaction)
    }

    pub(super) async fn let_go(self) {
        self.0.rollback().await.unwrap();
    }
}

/// The time for consecutive offers of a head office that the lock does not affect.
async fn offers_of(fixture: &Fixture, payer: CompanyId) -> Duration {
    let began = Instant::now();
    for _ in 0..COMMITS {
        fixture.offer(payer).await;
    }
    began.elapsed()
}

/// Others continue while `waiting` needs a row that `holder` has locked; it succeeds once the row
/// is free.
async fn delays_no_other<T: Send + 'static>(
    fixture: &Arc<Fixture>,
    other: CompanyId,
    holder: Holder,
    waiting: Vec<JoinHandle<T>>,
) -> Vec<T> {
    let beside = offers_of(fixture, other).await;
    let ended = waiting.iter().filter(|it| it.is_finished()).count();
    assert_eq!(ended, 0, "what needs the row did not wait for it");
    holder.let_go().await;
    let mut ends = Vec::new();
    for waiting in waiting {
        ends.push(
            timeout(Duration::from_mins(1), waiting)
                .await
                .unwrap()
                .unwrap(),
        );
    }
    let alone = offers_of(fixture, other).await;
    assert!(
        beside < NOISE || beside < alone * MAX_SLOWDOWN,
        "{beside:?} beside a held row, {alone:?} without"
    );
    ends
}

/// Concurrent offers of `payer`.
fn begin_offers(fixture: &Arc<Fixture>, payer: CompanyId) -> Vec<JoinHandle<()>> {
    let begin = |_| {
        let fixture = Arc::clone(fixture);
        tokio::spawn(async move {
            fixture.offer(payer).await;
        })
    };
    (0..5).map(begin).collect()
}

async fn operations_of(fixture: &Fixture, payer: CompanyId) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM operations WHERE head_office_id = $1")
        .bind(payer.as_uuid())
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_company_delays_its_own_offers_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let sql = format!(
        "SELECT 1 FROM companies WHERE id = '{}' FOR UPDATE",
        payer.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let waiting = begin_offers(&fixture, payer);
    delays_no_other(&fixture, other, holder, waiting).await;
    assert_eq!(operations_of(&fixture, payer).await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_endpoint_delays_what_is_addressed_to_it_and_nothing_else() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let endpoint = fixture.add_endpoint(payer).await.id;
    fixture.add_endpoint(other).await;
    let sql = format!(
        "SELECT 1 FROM endpoints WHERE id = '{}' FOR UPDATE",
        endpoint.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let waiting = begin_offers(&fixture, payer);
    delays_no_other(&fixture, other, holder, waiting).await;
    assert_eq!(operations_of(&fixture, payer).await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_operation_delays_its_own_command_and_no_other_commit() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let operation = fixture.offer(payer).await.id;
    let sql = format!(
        "SELECT 1 FROM operations WHERE id = {} FOR UPDATE",
        operation.get()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let command = {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move {
            let command = Command::Cancel;
            let (viewer, actor) = (Viewer::Platform, Actor::Company);
            let done = fixture
                .service
                .command(viewer, operation, &command, actor, fixture.now);
            done.await.unwrap();
        })
    };
    delays_no_other(&fixture, other, holder, vec![command]).await;
    let history = fixture.stores.queries.history(operation).await.unwrap();
    assert_eq!(history.len(), 2);
}

/// No query shows such a lock beforehand; only a timeout does.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_row_that_others_have_not_committed_delays_its_like_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let supplier = fixture.new_offer(payer).supplier;
    let company = preauth_server::directory::Company {
        cnpj: supplier.cnpj,
        ..fixture.company(preauth_core::value::CompanyKind::Supplier)
    };
    let sql = format!(
        "INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at)
         VALUES ('{id}', '{cnpj}', 'X', 'SUPPLIER', '{id}', 0)",
        id = company.id.as_uuid(),
        cnpj = supplier.cnpj.as_str(),
    );
    let holder = Holder::of(&fixture, &sql).await;
    let begin = |_| {
        let fixture = Arc::clone(&fixture);
        let mut offer = fixture.new_offer(payer);
        offer.supplier = supplier.clone();
        tokio::spawn(async move {
            let offered = fixture
                .service
                .offer(&offer, Actor::Company, None, fixture.now);
            offered.await.unwrap();
        })
    };
    let waiting = (0..3).map(begin).collect();
    delays_no_other(&fixture, other, holder, waiting).await;
    assert_eq!(operations_of(&fixture, payer).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_idempotency_key_delays_its_own_offer_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let key = IdempotencyKey::parse("a-key-that-expired").unwrap();
    let first = fixture.new_offer(payer);
    let offered = fixture
        .service
        .offer(&first, Actor::Company, Some(&key), fixture.now);
    offered.await.unwrap();
    let sql = "UPDATE idempotency_replies SET expires_at = 1";
    let mut connection = PgConnection::connect(&fixture.database.url())
        .await
        .unwrap();
    connection.execute(sql).await.unwrap();
    let sql = format!(
        "SELECT 1 FROM idempotency_replies WHERE key = '{}' FOR UPDATE",
        key.as_str()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let again = {
        let fixture = Arc::clone(&fixture);
        let offer = fixture.new_offer(payer);
        tokio::spawn(async move {
            let offered = fixture
                .service
                .offer(&offer, Actor::Company, Some(&key), fixture.now);
            offered.await.unwrap();
        })
    };
    delays_no_other(&fixture, other, holder, vec![again]).await;
    assert_eq!(operations_of(&fixture, payer).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_offer_that_waited_in_vain_is_refused_and_leaves_nothing() {
    let fixture = Arc::new(Fixture::new().await);
    let payer = fixture.payer().await;
    let sql = format!(
        "SELECT 1 FROM companies WHERE id = '{}' FOR UPDATE",
        payer.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let offer = fixture.new_offer(payer);
    let began = Instant::now();
    let refused = fixture
        .service
        .offer(&offer, Actor::Company, None, fixture.now)
        .await;
    assert!(matches!(refused, Err(ServiceError::Busy(_))), "{refused:?}");
    // Five seconds, and whatever else the machine does.
    assert!(began.elapsed() < Duration::from_secs(30));
    holder.let_go().await;
    // A further attempt would have shown by then.
    sleep(Duration::from_millis(500)).await;
    assert_eq!(operations_of(&fixture, payer).await, 0);
}

/// Locks a mail, and the mails that go in it, or that it goes in.
async fn a_held_mail_is_passed_over(sql: &str) {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let held = [fixture.offer(payer).await, fixture.offer(payer).await];
    let sent = fixture.offer(other).await;
    sqlx::query(
        "UPDATE notices SET joined_to = (SELECT id FROM notices WHERE operation_id = $1)
         WHERE operation_id = $2",
    )
    .bind(held[0].id.get())
    .bind(held[1].id.get())
    .execute(&fixture.sql)
    .await
    .unwrap();
    let holder = Holder::of(&fixture, sql).await;
    let queue = fixture.stores.mails.as_ref();
    let claim = claim(fixture.later(TimeDelta::seconds(1)));
    let leased = lease_by(queue, &claim).await.unwrap();
    assert_eq!(operation_of(&fixture, &leased).await, sent.id.get());
    assert_eq!(lease_by(queue, &claim).await, None);
    holder.let_go().await;
    // The first look of an instance is a complete one.
    let instance = Fixture::on(&fixture.database, 2).await;
    let queue = instance.stores.mails.as_ref();
    let leased = lease_by(queue, &claim).await.unwrap();
    assert_eq!(operation_of(&fixture, &leased).await, held[0].id.get());
    assert_eq!(leased.joined.len(), 1);
}

async fn operation_of(fixture: &Fixture, leased: &LeasedMail) -> i64 {
    sqlx::query_scalar("SELECT operation_id FROM notices WHERE id = $1")
        .bind(leased.id.as_uuid())
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_held_mail_delays_no_other() {
    a_held_mail_is_passed_over(
        "SELECT 1 FROM notices WHERE joined_to IS NULL
         ORDER BY next_attempt_at, id LIMIT 1 FOR UPDATE",
    )
    .await;
}

#[tokio::test]
async fn a_held_mail_that_goes_in_another_delays_no_other() {
    a_held_mail_is_passed_over("SELECT 1 FROM notices WHERE joined_to IS NOT NULL FOR UPDATE")
        .await;
}

/// Deliveries queued for an endpoint that was unreachable for long.
const LONG_BACKLOG: i64 = 100_000;
/// Maximum deliveries that one transaction settles.
const BATCH: i64 = 1_000;

#[expect(
    clippy::print_stdout,
    reason = "figures for a reader with --no-capture"
)]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn removing_an_endpoint_with_a_long_backlog_delays_no_commit() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let endpoint = fixture.add_endpoint(payer).await.id;
    records::add_backlog(&fixture.sql, endpoint, LONG_BACKLOG, fixture.now).await;
    let alone = slowest_offer(&fixture, other, COMMITS).await;

    let began = Instant::now();
    let deleted = fixture.directory().delete_endpoint(payer, fixture.now);
    deleted.await.unwrap();
    let answered = began.elapsed();
    // The answer waits for one batch.
    assert_eq!(unsettled(&fixture).await, LONG_BACKLOG - BATCH);
    let settling = {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move {
            let housekeeping = &fixture.stores.housekeeping;
            let mut steps = 0;
            // Each in a transaction of its own.
            while housekeeping.settle_endpoints(1_000).await.unwrap() > 0 {
                steps += 1;
            }
            steps
        })
    };
    let (mut beside, mut offers) = (Duration::ZERO, 0);
    while !settling.is_finished() {
        // Offers of the same company, too: only its endpoint is removed.
        for company in [other, payer] {
            beside = beside.max(slowest_offer(&fixture, company, 1).await);
            offers += 1;
        }
    }
    let steps = settling.await.unwrap();
    println!("removed in {answered:?}; slowest offer {alone:?} before, {beside:?} beside it");
    assert!(steps >= LONG_BACKLOG / BATCH - 1, "{steps} transactions");
    assert!(
        offers >= steps / 10,
        "{offers} offers beside {steps} transactions"
    );
    assert_eq!(unsettled(&fixture).await, 0);
}

async fn unsettled(fixture: &Fixture) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM deliveries WHERE status <> 'FAILED'")
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

async fn slowest_offer(fixture: &Fixture, payer: CompanyId, count: u32) -> Duration {
    let mut slowest = Duration::ZERO;
    for _ in 0..count {
        let began = Instant::now();
        fixture.offer(payer).await;
        slowest = slowest.max(began.elapsed());
    }
    slowest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_rate_window_delays_its_own_key_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    let (held, held_hash) = fixture.known_key().await;
    let (_, other_hash) = fixture.known_key().await;
    let limit = RateLimit::default();
    for hash in [&held_hash, &other_hash] {
        let entered = fixture
            .stores
            .access
            .authenticate(hash, limit, fixture.now)
            .await;
        entered.unwrap().unwrap();
    }
    let sql = format!(
        "SELECT 1 FROM rate_counts WHERE api_key_id = '{}' FOR UPDATE",
        held.id.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let waiting = {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move {
            let entered = fixture
                .stores
                .access
                .authenticate(&held_hash, limit, fixture.now)
                .await;
            entered.unwrap().unwrap().window.unwrap().count
        })
    };
    let began = Instant::now();
    for _ in 0..COMMITS {
        let entered = fixture
            .stores
            .access
            .authenticate(&other_hash, limit, fixture.now)
            .await;
        entered.unwrap().unwrap();
    }
    let beside = began.elapsed();
    assert!(!waiting.is_finished());
    assert!(beside < Duration::from_secs(2), "{beside:?}");
    holder.let_go().await;
    // Counted once, although it was tried several times.
    let count = timeout(Duration::from_mins(1), waiting).await.unwrap();
    assert_eq!(count.unwrap(), 2);
}

/// A secret that a forgotten session holds stays as it is, and all others are encrypted anew.
#[tokio::test]
async fn a_held_secret_delays_the_encryption_of_no_other() {
    let fixture = Fixture::new().await;
    let mut endpoints = Vec::new();
    for _ in 0..3 {
        let payer = fixture.payer().await;
        endpoints.push(fixture.add_endpoint(payer).await.id);
    }
    let directory = fixture.directory();
    let in_force = async || {
        let page = directory.secrets_in_force(fixture.now, None, 10).await;
        page.unwrap()
    };
    let resealed = |kept: Vec<KeptSecret>| {
        let sealed = SealedSecret(vec![9]);
        let resealed = kept.into_iter().map(|kept| ResealedSecret {
            kept,
            sealed: sealed.clone(),
        });
        resealed.collect()
    };
    let sql = format!(
        "SELECT 1 FROM endpoint_secrets WHERE endpoint_id = '{}' FOR UPDATE",
        endpoints[1].as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let beside = directory.replace_secrets(resealed(in_force().await)).await;
    let expected = Replaced {
        replaced: 2,
        held: 1,
    };
    assert_eq!(beside.unwrap(), expected);
    holder.let_go().await;
    let old = in_force().await.into_iter();
    let old = old.filter(|kept| kept.sealed != SealedSecret(vec![9]));
    let old: Vec<_> = old.collect();
    assert_eq!(old.len(), 1);
    assert_eq!(old[0].id.endpoint, endpoints[1]);
    let again = directory.replace_secrets(resealed(old)).await.unwrap();
    assert_eq!((again.replaced, again.held), (1, 0));
}

/// Outcomes of attempts to `other` while a row of `held`'s is locked.
async fn attempts_end_beside(what: impl Fn(&Leased) -> String) {
    let fixture = Arc::new(Fixture::new().await);
    let (held, other) = (fixture.payer().await, fixture.payer().await);
    for company in [held, other] {
        fixture.add_endpoint(company).await;
    }
    fixture.offer(held).await;
    for _ in 0..9 {
        fixture.offer(other).await;
    }
    let claim = Claim {
        now: fixture.now,
        lease: TimeDelta::minutes(5),
        limit: 20,
        slow_limit: 20,
        per_endpoint: NonZeroU32::new(20).unwrap(),
        per_slow_endpoint: NonZeroU32::new(20).unwrap(),
    };
    let mut leased = fixture.stores.outbox.claim(&claim).await.unwrap().leased;
    assert_eq!(leased.len(), 10);
    let endpoint = fixture.directory().endpoint(held).await.unwrap();
    let endpoint = endpoint.unwrap().id;
    let of_held = leased.iter().position(|it| it.endpoint == endpoint);
    let of_held = leased.remove(of_held.unwrap());
    let holder = Holder::of(&fixture, &what(&of_held)).await;
    let waiting = {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move { deliver(&fixture, &of_held, fixture.now).await })
    };
    let began = Instant::now();
    for leased in &leased {
        deliver(&fixture, leased, fixture.now).await;
    }
    let beside = began.elapsed();
    assert!(!waiting.is_finished());
    assert!(beside < Duration::from_secs(2), "{beside:?}");
    holder.let_go().await;
    let ended = timeout(Duration::from_mins(1), waiting).await.unwrap();
    ended.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_endpoint_delays_the_ends_of_its_own_attempts_and_no_others() {
    attempts_end_beside(|leased| {
        let id = leased.endpoint.as_uuid();
        format!("SELECT 1 FROM endpoints WHERE id = '{id}' FOR UPDATE")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_delivery_delays_the_end_of_its_own_attempt_and_no_others() {
    attempts_end_beside(|leased| {
        let id = leased.delivery.as_uuid();
        format!("SELECT 1 FROM deliveries WHERE id = '{id}' FOR UPDATE")
    })
    .await;
}
