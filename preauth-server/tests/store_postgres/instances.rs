//! Several instances on one database, and broken connections.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::operation::Actor;
use preauth_core::port::Claim;
use preauth_core::service::{OfferOutcome, ServiceError};
use preauth_core::value::IdempotencyKey;
use preauth_server::access::RateLimit;
use preauth_server::mail::{Claimed, DailyShare, MailClaim, MailLimits};
use tokio::time::timeout;

use crate::store::deliveries::LEASE;
use crate::store::expiry::all_expire_once;
use crate::store::fixture::Fixture;
use crate::store::handovers::only_what_waits_wakes;

/// Two instances; the second has distinct ids.
async fn two() -> [Arc<Fixture>; 2] {
    let first = Arc::new(Fixture::new().await);
    let second = Arc::new(Fixture::on(&first.database, 2).await);
    [first, second]
}

/// Closes all connections of all instances, as a restart of the server does.
async fn break_connections(fixture: &Fixture) {
    sqlx::query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND application_name = 'preauth-server'",
    )
    .execute(&fixture.sql)
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_rate_window_is_counted_across_instances() {
    let instances = two().await;
    let (_, hash) = instances[0].known_key().await;
    let requests: Vec<_> = (0..200)
        .map(|n| {
            let instance = Arc::clone(&instances[n % 2]);
            let now = instance.now;
            let limit = RateLimit::default();
            tokio::spawn(
                async move { instance.stores.access.authenticate(&hash, limit, now).await },
            )
        })
        .collect();
    let mut granted = 0;
    for request in requests {
        let entry = request.await.unwrap().unwrap().unwrap();
        if entry.window.unwrap().count <= RateLimit::default().requests {
            granted += 1;
        }
    }
    assert_eq!(granted, 120);
}

#[tokio::test]
async fn a_revoked_key_is_revoked_on_every_instance_at_once() {
    let [first, second] = two().await;
    let (key, hash) = first.known_key().await;
    let limit = RateLimit::default();
    let enter = |fixture: Arc<Fixture>| async move {
        let entered = fixture
            .stores
            .access
            .authenticate(&hash, limit, fixture.now)
            .await;
        entered.unwrap().unwrap().revoked_at
    };
    assert_eq!(enter(Arc::clone(&second)).await, None);
    let revoked = first.directory().revoke_api_key(key.id, first.now);
    revoked.await.unwrap();
    assert_eq!(enter(Arc::clone(&second)).await, Some(first.now));
}

#[tokio::test]
async fn a_key_that_is_exhausted_on_one_instance_is_so_on_every_other() {
    let [first, second] = two().await;
    let (_, hash) = first.known_key().await;
    let limit = RateLimit {
        requests: 3,
        window_seconds: 60,
    };
    let count = |fixture: Arc<Fixture>, seconds| async move {
        let now = fixture.later(TimeDelta::seconds(seconds));
        let entered = fixture.stores.access.authenticate(&hash, limit, now).await;
        entered.unwrap().unwrap().window.unwrap().count
    };
    for expected in [1, 2, 3, 4, 4] {
        assert_eq!(count(Arc::clone(&first), 0).await, expected);
    }
    assert_eq!(count(Arc::clone(&second), 59).await, 4);
    assert_eq!(count(Arc::clone(&second), 60).await, 1);
    assert_eq!(count(first, 61).await, 2);
}

#[tokio::test]
async fn an_exhausted_key_that_is_revoked_elsewhere_is_revoked_within_seconds() {
    let [first, second] = two().await;
    let (key, hash) = first.known_key().await;
    let limit = RateLimit {
        requests: 3,
        window_seconds: 60,
    };
    let enter = || async {
        let entered = second
            .stores
            .access
            .authenticate(&hash, limit, second.now)
            .await;
        entered.unwrap().unwrap()
    };
    for _ in 0..5 {
        enter().await;
    }
    let revoked = first.directory().revoke_api_key(key.id, first.now);
    revoked.await.unwrap();
    let noticed = async {
        while enter().await.revoked_at.is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(10), noticed).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn instances_that_claim_side_by_side_keep_to_the_limit_of_an_endpoint() {
    let instances = two().await;
    let payer = instances[0].payer().await;
    instances[0].add_endpoint(payer).await;
    for _ in 0..12 {
        instances[0].offer(payer).await;
    }
    let claim = Claim {
        now: instances[0].now,
        lease: LEASE,
        limit: 3,
        slow_limit: 3,
        per_endpoint: NonZeroU32::new(5).unwrap(),
        per_slow_endpoint: NonZeroU32::new(5).unwrap(),
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::new(5).unwrap(),
    };
    let claims: Vec<_> = (0..8)
        .map(|n| {
            let (instance, claim) = (Arc::clone(&instances[n % 2]), claim.clone());
            tokio::spawn(async move {
                instance
                    .stores
                    .outbox
                    .claim(&claim)
                    .await
                    .map(|it| it.leased)
            })
        })
        .collect();
    let mut leased = Vec::new();
    for claimed in claims {
        leased.extend(claimed.await.unwrap().unwrap());
    }
    let mut deliveries: Vec<_> = leased.iter().map(|it| it.delivery).collect();
    deliveries.sort_unstable();
    deliveries.dedup();
    assert_eq!((leased.len(), deliveries.len()), (5, 5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn offers_due_together_expire_once_on_two_instances() {
    all_expire_once(two().await).await;
}

// Contract: error-code-of-ours/IDEMPOTENCY_IN_PROGRESS
#[tokio::test]
async fn a_key_that_one_instance_is_committing_is_in_progress_on_the_other() {
    let [first, second] = two().await;
    let payer = first.payer().await;
    let offer = first.new_offer(payer);
    let key = IdempotencyKey::parse("pedido-0001").unwrap();
    // The first instance's transaction, which has inserted the key and stays open.
    let mut committing = first.sql.begin().await.unwrap();
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))")
        .bind(payer.as_uuid().to_string())
        .bind(key.as_str())
        .execute(&mut *committing)
        .await
        .unwrap();
    let send = async || {
        let (service, now) = (&second.service, second.now);
        service.offer(&offer, Actor::Company, Some(&key), now).await
    };
    let meanwhile = send().await;
    assert!(
        matches!(meanwhile, Err(ServiceError::IdempotencyInProgress)),
        "{meanwhile:?}"
    );
    committing.rollback().await.unwrap();
    let OfferOutcome::Created { body, .. } = send().await.unwrap() else {
        panic!("nobody else made the offer");
    };
    assert_eq!(send().await.unwrap(), OfferOutcome::Replayed { body });
}

#[tokio::test]
async fn a_new_delivery_wakes_the_dispatchers_of_other_instances() {
    let [first, second] = two().await;
    let payer = first.payer().await;
    first.add_endpoint(payer).await;
    let waiting = second.stores.lifecycle.deliveries_waiting();
    // The notification from its own start of listening.
    timeout(Duration::from_mins(1), waiting.notified())
        .await
        .unwrap();
    first.offer(payer).await;
    timeout(Duration::from_mins(1), waiting.notified())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_new_delivery_wakes_the_dispatchers_only_if_it_waits_for_a_claim() {
    let fixture = Fixture::new().await;
    let waiting = fixture.stores.lifecycle.deliveries_waiting();
    // The notification from its own start of listening.
    waiting.notified().await;
    only_what_waits_wakes(&fixture).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn broken_connections_are_replaced_and_lose_nothing_that_was_answered() {
    let fixture = Arc::new(Fixture::new().await);
    let payer = fixture.payer().await;
    let mut offered = vec![fixture.offer(payer).await.id];
    for _ in 0..5 {
        break_connections(&fixture).await;
        let offer = timeout(Duration::from_mins(1), fixture.offer(payer));
        offered.push(offer.await.unwrap().id);
        break_connections(&fixture).await;
        let user = fixture.user(payer);
        fixture.directory().add_user(&user, None).await.unwrap();
    }
    for id in offered {
        let history = fixture.stores.queries.history(id).await.unwrap();
        assert_eq!(history.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn offers_survive_connections_that_are_broken_under_them() {
    let fixture = Arc::new(Fixture::new().await);
    let payer = fixture.payer().await;
    let offers: Vec<_> = (0..40)
        .map(|_| {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move { fixture.offer(payer).await.id })
        })
        .collect();
    for _ in 0..3 {
        break_connections(&fixture).await;
        tokio::task::yield_now().await;
    }
    let mut answered = 0;
    for offer in offers {
        // The others have an unknown outcome, or nothing was done.
        if let Ok(id) = offer.await {
            let history = fixture.stores.queries.history(id).await.unwrap();
            assert_eq!(history.len(), 1);
            answered += 1;
        }
    }
    let operations: i64 = sqlx::query_scalar("SELECT count(*) FROM operations")
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    let without_event: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM operations o
         WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.operation_id = o.id)",
    )
    .fetch_one(&fixture.sql)
    .await
    .unwrap();
    assert!(operations >= answered);
    assert_eq!(without_event, 0);
}

#[tokio::test]
async fn an_instance_that_freezes_while_it_claims_a_mail_delays_the_others_briefly() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    // The database applies the timeout to a session that is silent within a transaction.
    sqlx::raw_sql(
        "CREATE TABLE timeouts (of_a_claim TEXT);
         CREATE FUNCTION note() RETURNS TRIGGER LANGUAGE plpgsql AS $$
         BEGIN
             INSERT INTO timeouts VALUES (current_setting('idle_in_transaction_session_timeout'));
             RETURN NULL;
         END $$;
         CREATE TRIGGER note AFTER UPDATE ON notices EXECUTE FUNCTION note()",
    )
    .execute(&fixture.sql)
    .await
    .unwrap();
    let now = fixture.later(TimeDelta::seconds(1));
    let claim = MailClaim {
        now,
        lease: TimeDelta::minutes(2),
        limit: 1,
        share: DailyShare::on_the_day_of(now, MailLimits::default()),
    };
    let claimed = fixture.stores.mails.claim(&claim).await.unwrap();
    assert!(matches!(&claimed[..], [Claimed::Leased(_)]), "{claimed:?}");
    let timeouts = sqlx::query_scalar("SELECT DISTINCT of_a_claim FROM timeouts");
    let timeouts: Vec<String> = timeouts.fetch_all(&fixture.sql).await.unwrap();
    assert_eq!(timeouts, ["2s"]);
}
