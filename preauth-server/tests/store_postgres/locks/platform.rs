//! Writes of the platform API that need locked rows delay no other request.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use preauth_core::port::Viewer;
use preauth_core::value::{ApiKeyId, Cnpj, CompanyId, DeliveryId, MailId, OperationId, UserId};
use preauth_server::directory::{Company, Directory, DirectoryError, UserChange};
use preauth_server::fair::{Tenant, charged_to};
use tokio::task::JoinHandle;

use crate::store::fixture::{FIRST_PAGE, Fixture};

use super::{Holder, ROUNDS, goes_on_beside, held_company, one_waits};

/// Writes that need held rows: more than the store has connections.
const WAITING: usize = 24;
/// Platform writes that may wait for locks.
const MAX_WAITING: usize = 256;
const TOO_MANY: usize = MAX_WAITING + 50;

type Written = Result<(), DirectoryError>;

/// One platform write that needs a row which is held.
type Write = for<'d> fn(&'d dyn Directory, &'d Held, &'d Fixture) -> BoxFuture<'d, Written>;

/// Records whose rows are held.
#[derive(Clone, Copy)]
struct Held {
    company: CompanyId,
    user: UserId,
    key: ApiKeyId,
    delivery: DeliveryId,
    mail: MailId,
    supplier: Cnpj,
}

/// A write of each resource whose rows others change.
const WRITES: [Write; 8] = [
    |directory, held, _| {
        let name = "Outro nome".parse().unwrap();
        Box::pin(async move {
            directory
                .rename_company(held.company, &name)
                .await
                .map(drop)
        })
    },
    |directory, held, _| Box::pin(async { directory.resume_company(held.company).await.map(drop) }),
    |directory, held, fixture| directory.block_supplier(held.company, &held.supplier, fixture.now),
    |directory, held, _| {
        let change = UserChange {
            active: Some(true),
            ..UserChange::default()
        };
        Box::pin(async move { directory.update_user(held.user, &change).await.map(drop) })
    },
    |directory, held, fixture| directory.revoke_api_key(held.key, fixture.now),
    |directory, held, fixture| {
        let paused = directory.set_endpoint_paused(held.company, true, fixture.now);
        Box::pin(async { paused.await.map(drop) })
    },
    |directory, held, fixture| again(directory.resend(held.delivery, fixture.now)),
    |directory, held, fixture| again(directory.resend_mail(held.mail, fixture.now)),
];

/// A conflict: another of these writes has already sent it again.
fn again(resent: BoxFuture<'_, Written>) -> BoxFuture<'_, Written> {
    Box::pin(async {
        match resent.await {
            Err(DirectoryError::Conflict) => Ok(()),
            resent => resent,
        }
    })
}

/// A company with a record of each kind, each locked by a session that does not end.
async fn held(fixture: &Fixture) -> (Held, Holder) {
    let payer = fixture.payer().await;
    let endpoint = fixture.add_endpoint(payer).await.id;
    let supplier = fixture.offer(payer).await.supplier.cnpj;
    let user = fixture.user(payer);
    fixture.directory().add_user(&user, None).await.unwrap();
    let (key, hash) = fixture.api_key(payer, user.id);
    let added = fixture.directory().add_api_key(&key, &hash, None);
    added.await.unwrap();
    for sql in [
        "UPDATE deliveries SET status = 'FAILED', next_attempt_at = NULL, ended_at = created_at",
        "UPDATE notices SET status = 'FAILED', next_attempt_at = NULL, ended_at = staged_at",
    ] {
        sqlx::query(sql).execute(&fixture.sql).await.unwrap();
    }
    let id_of = async |sql: &'static str| sqlx::query_scalar(sql).fetch_one(&fixture.sql).await;
    let held = Held {
        company: payer,
        user: user.id,
        key: key.id,
        delivery: DeliveryId::new(id_of("SELECT id FROM deliveries").await.unwrap()),
        mail: MailId::new(id_of("SELECT id FROM notices").await.unwrap()),
        supplier,
    };
    let mut holder = Holder::of(fixture, &held_company(payer)).await;
    for (table, id) in [
        ("users", user.id.as_uuid()),
        ("api_keys", key.id.as_uuid()),
        ("endpoints", endpoint.as_uuid()),
        ("deliveries", held.delivery.as_uuid()),
        ("notices", held.mail.as_uuid()),
    ] {
        let sql = format!("SELECT 1 FROM {table} WHERE id = '{id}' FOR UPDATE");
        holder.lock(&sql).await;
    }
    (held, holder)
}

fn begin(fixture: &Arc<Fixture>, held: Held, write: Write) -> JoinHandle<Written> {
    let fixture = Arc::clone(fixture);
    tokio::spawn(charged_to(Tenant::Platform, async move {
        write(fixture.directory(), &held, &fixture).await
    }))
}

/// Requests to both APIs about `other`, and reads of what is held.
async fn requests_beside(
    fixture: &Fixture,
    held: CompanyId,
    other: CompanyId,
    operation: OperationId,
) {
    let directory = fixture.directory();
    let writes = async {
        let name = "Nome novo".parse().unwrap();
        directory.rename_company(other, &name).await.unwrap();
        let user = fixture.user(other);
        directory.add_user(&user, None).await.unwrap();
        let paused = directory.set_endpoint_paused(other, true, fixture.now);
        paused.await.unwrap();
    };
    charged_to(Tenant::Platform, writes).await;
    let reads = async {
        for company in [held, other] {
            let found = directory.company(company).await;
            assert!(found.unwrap().is_some());
            let listed = directory.users(company, FIRST_PAGE).await;
            assert!(listed.unwrap().total > 0);
        }
    };
    charged_to(Tenant::Platform, reads).await;
    let integration = async {
        let viewer = Viewer::HeadOffice(other);
        let found = fixture.stores.queries.find(viewer, operation).await;
        assert!(found.unwrap().is_some());
        fixture.offer(other).await;
    };
    charged_to(Tenant::HeadOffice(other), integration).await;
    // The service's own work: retention.
    let forgotten = fixture
        .stores
        .housekeeping
        .forget_ended_mails(fixture.now, 10);
    forgotten.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn held_records_delay_their_own_platform_writes_and_nothing_else() {
    let fixture = Arc::new(Fixture::new().await);
    let (held, holder) = held(&fixture).await;
    let other = fixture.payer().await;
    let operation = fixture.offer(other).await.id;
    fixture.add_endpoint(other).await;
    let waiting = || {
        let writes = WRITES.iter().cycle().take(WAITING);
        writes.map(|write| begin(&fixture, held, *write)).collect()
    };
    let beside = async || {
        one_waits(&fixture).await;
        for _ in 0..3 {
            requests_beside(&fixture, held.company, other, operation).await;
        }
    };
    let written = goes_on_beside(holder, waiting, beside).await;
    assert_eq!(written.len(), WAITING);
    let renamed = fixture.directory().company(held.company).await.unwrap();
    assert_eq!(renamed.unwrap().name.as_str(), "Outro nome");
}

fn rename(
    fixture: &Arc<Fixture>,
    company: CompanyId,
) -> JoinHandle<Result<Company, DirectoryError>> {
    let fixture = Arc::clone(fixture);
    tokio::spawn(charged_to(Tenant::Platform, async move {
        let name = "Outro nome".parse().unwrap();
        fixture.directory().rename_company(company, &name).await
    }))
}

async fn renames_of(fixture: &Fixture, company: CompanyId) {
    for _ in 0..5 {
        let name = "Nome novo".parse().unwrap();
        let renamed = fixture.directory().rename_company(company, &name);
        renamed.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn more_platform_writes_than_may_wait_are_refused_and_delay_nothing() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let holder = Holder::of(&fixture, &held_company(payer)).await;
    let mut waited = 0;
    for _ in 0..ROUNDS {
        let flood: Vec<_> = (0..TOO_MANY).map(|_| rename(&fixture, payer)).collect();
        charged_to(Tenant::Platform, renames_of(&fixture, other)).await;
        waited = flood.iter().filter(|it| !it.is_finished()).count();
        for written in flood {
            let written = written.await.unwrap();
            let is_refused = matches!(written, Err(DirectoryError::Unavailable(_)));
            assert!(is_refused, "{written:?}");
        }
        if waited >= MAX_WAITING {
            break;
        }
    }
    assert!(waited >= MAX_WAITING, "{waited} still waited for the row");
    holder.let_go().await;
    let renamed = rename(&fixture, payer).await.unwrap().unwrap();
    assert_eq!(renamed.name.as_str(), "Outro nome");
}

/// All operators are one tenant: what waits for one company must leave a place to what waits for another.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn platform_writes_that_wait_for_one_company_refuse_none_that_waits_for_another() {
    let fixture = Arc::new(Fixture::new().await);
    let [flooded, held, free] = [
        fixture.payer().await,
        fixture.payer().await,
        fixture.payer().await,
    ];
    let _flooded = Holder::of(&fixture, &held_company(flooded)).await;
    let mut beside = 0;
    for _ in 0..ROUNDS {
        let holder = Holder::of(&fixture, &held_company(held)).await;
        let flood: Vec<_> = (0..TOO_MANY).map(|_| rename(&fixture, flooded)).collect();
        let refused = || flood.iter().filter(|it| it.is_finished()).count();
        while refused() < TOO_MANY - MAX_WAITING {
            charged_to(Tenant::Platform, renames_of(&fixture, free)).await;
        }
        let waiting = rename(&fixture, held);
        // These are tried after it.
        charged_to(Tenant::Platform, renames_of(&fixture, free)).await;
        holder.let_go().await;
        let renamed = waiting.await.unwrap();
        beside = TOO_MANY - refused();
        for written in flood {
            assert!(written.await.unwrap().is_err());
        }
        // Otherwise the places may have been free by then.
        if beside > 0 {
            assert_eq!(renamed.unwrap().name.as_str(), "Outro nome");
            break;
        }
    }
    assert!(beside > 0, "what needs the other row was answered too late");
}
