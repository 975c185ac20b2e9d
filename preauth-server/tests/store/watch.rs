//! The values that operators monitor: pending work, and the use of connections.

use std::net::Ipv4Addr;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::access::OperatorRole;
use preauth_core::port::{ActingOperator, Audited};
use preauth_core::value::{OperatorId, OperatorName, RequestId, Timestamp};
use preauth_server::access::RateLimit;
use preauth_server::audit_trail::AuditedRequest;
use preauth_server::directory::{AuditOutcome, Operator};
use preauth_server::store::{Deadlines, Waiting};

use crate::store::fixture::Fixture;

async fn waiting(fixture: &Fixture, later: TimeDelta) -> Waiting {
    let at = fixture.later(later);
    fixture.stores.watch.waiting(at).await.unwrap()
}

#[tokio::test]
async fn due_and_paused_deliveries_and_staged_mails_are_counted() {
    let fixture = Fixture::new().await;
    let now = TimeDelta::zero();
    let nothing = Waiting {
        due_deliveries: 0,
        retried_deliveries: 0,
        oldest_retried_at: None,
        paused_deliveries: 0,
        paused_endpoints: 0,
        failing_endpoints: 0,
        staged_mails: 0,
    };
    assert_eq!(waiting(&fixture, now).await, nothing);
    let (busy, paused) = (fixture.payer().await, fixture.payer().await);
    for payer in [busy, busy, paused, paused, paused] {
        if fixture.directory().endpoint(payer).await.unwrap().is_none() {
            fixture.add_endpoint(payer).await;
        }
        fixture.offer(payer).await;
    }
    let pause = fixture
        .directory()
        .set_endpoint_paused(paused, true, fixture.now);
    pause.await.unwrap();
    let expected = Waiting {
        due_deliveries: 2,
        retried_deliveries: 0,
        oldest_retried_at: None,
        paused_deliveries: 3,
        paused_endpoints: 1,
        failing_endpoints: 0,
        staged_mails: 5,
    };
    assert_eq!(waiting(&fixture, now).await, expected);
    let not_yet_due = Waiting {
        due_deliveries: 0,
        ..expected
    };
    assert_eq!(
        waiting(&fixture, TimeDelta::milliseconds(-1)).await,
        not_yet_due
    );
    fixture
        .directory()
        .delete_endpoint(paused, fixture.now)
        .await
        .unwrap();
    let without_paused = Waiting {
        retried_deliveries: 0,
        oldest_retried_at: None,
        paused_deliveries: 0,
        paused_endpoints: 0,
        failing_endpoints: 0,
        ..expected
    };
    assert_eq!(waiting(&fixture, now).await, without_paused);
}

fn operator(fixture: &Fixture, ends_at: Timestamp) -> Operator {
    Operator {
        id: OperatorId::new(fixture.uuid()),
        name: OperatorName::parse("ana").unwrap(),
        role: OperatorRole::Viewer,
        created_at: fixture.now,
        created_by: OperatorName::parse("root").unwrap(),
        valid_until: Some(ends_at),
        revoked_at: None,
        last_used_at: Some(fixture.now),
    }
}

fn request_of(fixture: &Fixture, operator: &Operator) -> Arc<AuditedRequest> {
    let acting = ActingOperator {
        id: None,
        name: operator.name.clone(),
        request: RequestId::new(fixture.uuid()),
        address: Ipv4Addr::LOCALHOST.into(),
    };
    let audited = Audited {
        role: OperatorRole::Admin,
        action: "cancelOperation",
        record: "operations/1".to_owned(),
    };
    Arc::new(AuditedRequest::new(fixture.now, acting, audited, None))
}

#[tokio::test]
async fn overdue_offers_unsealed_rows_and_the_ends_of_keys_in_use_are_found() {
    let fixture = Fixture::new().await;
    let watch = &fixture.stores.watch;
    let nothing = Deadlines {
        overdue_offers: 0,
        oldest_overdue_at: None,
        oldest_unsealed_at: None,
        api_key_ends_at: None,
        operator_token_ends_at: None,
    };
    let (key, hash) = fixture.known_key().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    // A key that nobody uses does not count.
    assert_eq!(watch.deadlines(fixture.now).await.unwrap(), nothing);
    let late = fixture.later(TimeDelta::days(31));
    let overdue = watch.deadlines(late).await.unwrap();
    assert_eq!(overdue.overdue_offers, 1);
    assert!(overdue.oldest_overdue_at.is_some_and(|at| at <= late));
    // On SQLite the uses are written once a second.
    if watch.usage().database == "postgresql" {
        let access = &fixture.stores.access;
        let entered = access.authenticate(&hash, RateLimit::default(), fixture.now);
        entered.await.unwrap().unwrap();
        let found = watch.deadlines(fixture.now).await.unwrap();
        assert_eq!(found.api_key_ends_at, Some(key.expires_at));
        let unused = watch.deadlines(fixture.later(TimeDelta::days(8))).await;
        assert_eq!(unused.unwrap().api_key_ends_at, None);
        fixture
            .directory()
            .revoke_api_key(key.id, fixture.now)
            .await
            .unwrap();
        assert_eq!(watch.deadlines(fixture.now).await.unwrap(), nothing);
    }
    let ends_at = fixture.later(TimeDelta::days(20));
    let ana = operator(&fixture, ends_at);
    let directory = fixture.directory();
    directory.add_operator(&ana, &hash, None).await.unwrap();
    let row = directory.leave_row(request_of(&fixture, &ana), AuditOutcome::Done);
    row.await.unwrap();
    let found = watch.deadlines(fixture.now).await.unwrap();
    let expected = Deadlines {
        oldest_unsealed_at: Some(fixture.now),
        operator_token_ends_at: Some(ends_at),
        ..nothing
    };
    assert_eq!(found, expected);
    directory.seal(fixture.now, None).await.unwrap();
    let sealed = watch.deadlines(fixture.now).await.unwrap();
    assert_eq!(sealed.oldest_unsealed_at, None);
}

#[tokio::test]
async fn connections_are_counted_within_their_limit() {
    let fixture = Fixture::new().await;
    fixture.payer().await;
    waiting(&fixture, TimeDelta::zero()).await;
    let usage = fixture.stores.watch.usage();
    let open = usage.connections_in_use + usage.connections_idle;
    assert!(open >= 1 && open <= usage.connections_limit, "{usage:?}");
    let has_queue = usage.database == "sqlite";
    assert_eq!(usage.write_queue.is_some(), has_queue, "{usage:?}");
    if let Some(queue) = usage.write_queue {
        assert!(queue.length < queue.limit, "{queue:?}");
    }
}
