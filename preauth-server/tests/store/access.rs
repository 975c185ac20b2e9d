//! Keys and their rate windows.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::value::{CompanyKind, Permission, Scope, Timestamp};
use preauth_server::access::{KeyHash, KeyRecord, RateLimit, Window};
use preauth_server::directory::{Suspension, User, UserChange};

use crate::store::fixture::Fixture;

const LIMIT: RateLimit = RateLimit {
    requests: 3,
    window_seconds: 60,
};

async fn authenticate(fixture: &Fixture, hash: &KeyHash, at: Timestamp) -> KeyRecord {
    let entered = fixture.stores.access.authenticate(hash, LIMIT, at).await;
    entered.unwrap().unwrap()
}

async fn window(fixture: &Fixture, hash: &KeyHash, seconds: i64) -> (u32, i64) {
    let at = fixture.later(TimeDelta::seconds(seconds));
    let Window { count, started_at } = authenticate(fixture, hash, at).await.window.unwrap();
    (count, started_at.since(fixture.now).num_seconds())
}

// Contract: service/on-whose-behalf
#[tokio::test]
async fn a_key_leads_to_its_company_and_its_user() {
    let fixture = Fixture::new().await;
    let head_office = fixture.payer().await;
    let branch = fixture.add(fixture.branch_of(head_office)).await;
    let user = User {
        permissions: [Permission::RequestAdvances].into_iter().collect(),
        ..fixture.user(branch)
    };
    fixture.directory().add_user(&user, None).await.unwrap();
    let (key, hash) = fixture.api_key(branch, user.id);
    fixture
        .directory()
        .add_api_key(&key, &hash, None)
        .await
        .unwrap();
    let entry = authenticate(&fixture, &hash, fixture.now).await;
    let expected = KeyRecord {
        key: key.id,
        scopes: [Scope::PreauthRead, Scope::NotesRead].into_iter().collect(),
        revoked_at: None,
        expires_at: key.expires_at,
        company: branch,
        company_kind: CompanyKind::Construction,
        head_office,
        company_is_suspended: false,
        user: user.id,
        user_is_active: true,
        permissions: user.permissions,
        window: Some(Window {
            count: 1,
            started_at: fixture.now,
        }),
    };
    assert_eq!(entry, expected);
}

#[tokio::test]
async fn an_unknown_key_leads_nowhere() {
    let fixture = Fixture::new().await;
    let entered = fixture
        .stores
        .access
        .authenticate(&KeyHash([7; 32]), LIMIT, fixture.now);
    assert_eq!(entered.await.unwrap(), None);
}

#[tokio::test]
async fn a_window_begins_with_its_first_request_and_ends_after_its_length() {
    let fixture = Fixture::new().await;
    let (_, hash) = fixture.known_key().await;
    assert_eq!(window(&fixture, &hash, 10).await, (1, 10));
    assert_eq!(window(&fixture, &hash, 69).await, (2, 10));
    assert_eq!(window(&fixture, &hash, 70).await, (1, 70));
    assert_eq!(window(&fixture, &hash, 71).await, (2, 70));
}

#[tokio::test]
async fn counting_stops_one_above_the_limit() {
    let fixture = Fixture::new().await;
    let (_, hash) = fixture.known_key().await;
    for expected in [1, 2, 3, 4, 4, 4] {
        assert_eq!(window(&fixture, &hash, 5).await, (expected, 5));
    }
    assert_eq!(window(&fixture, &hash, 65).await, (1, 65));
}

#[tokio::test]
async fn a_limit_that_was_raised_counts_from_the_next_request_on() {
    let fixture = Fixture::new().await;
    let (_, hash) = fixture.known_key().await;
    for expected in [1, 2, 3, 4] {
        assert_eq!(window(&fixture, &hash, 5).await, (expected, 5));
    }
    let raised = RateLimit {
        requests: 9,
        ..LIMIT
    };
    let at = fixture.later(TimeDelta::seconds(6));
    let entered = fixture.stores.access.authenticate(&hash, raised, at).await;
    assert_eq!(entered.unwrap().unwrap().window.unwrap().count, 5);
}

#[tokio::test]
async fn keys_do_not_share_a_window() {
    let fixture = Fixture::new().await;
    let (_, one) = fixture.known_key().await;
    let (_, other) = fixture.known_key().await;
    assert_eq!(window(&fixture, &one, 0).await, (1, 0));
    assert_eq!(window(&fixture, &other, 7).await, (1, 7));
    assert_eq!(window(&fixture, &one, 9).await, (2, 0));
}

#[tokio::test]
async fn requests_out_of_order_count_in_the_window_that_stands() {
    let fixture = Fixture::new().await;
    let (_, hash) = fixture.known_key().await;
    assert_eq!(window(&fixture, &hash, 10).await, (1, 10));
    assert_eq!(window(&fixture, &hash, 9).await, (2, 10));
}

#[tokio::test]
async fn a_clock_set_back_locks_no_key_out() {
    let fixture = Fixture::new().await;
    let (_, hash) = fixture.known_key().await;
    assert_eq!(window(&fixture, &hash, 86_400).await, (1, 86_400));
    assert_eq!(window(&fixture, &hash, 0).await, (1, 0));
}

#[tokio::test]
async fn revoked_and_expired_keys_are_not_counted() {
    let fixture = Fixture::new().await;
    let (expired, hash) = fixture.known_key().await;
    assert_eq!(
        authenticate(&fixture, &hash, expired.expires_at)
            .await
            .window,
        None
    );
    let just_before = expired
        .expires_at
        .saturating_sub(TimeDelta::milliseconds(1));
    assert!(
        authenticate(&fixture, &hash, just_before)
            .await
            .window
            .is_some()
    );

    let (revoked, hash) = fixture.known_key().await;
    let revoke = fixture.directory().revoke_api_key(revoked.id, fixture.now);
    revoke.await.unwrap();
    let entry = authenticate(&fixture, &hash, fixture.now).await;
    assert_eq!((entry.window, entry.revoked_at), (None, Some(fixture.now)));

    let (exhausted, hash) = fixture.known_key().await;
    for _ in 0..=LIMIT.requests {
        authenticate(&fixture, &hash, fixture.now).await;
    }
    let revoke = fixture
        .directory()
        .revoke_api_key(exhausted.id, fixture.now);
    revoke.await.unwrap();
    let entry = authenticate(&fixture, &hash, fixture.now).await;
    assert_eq!((entry.window, entry.revoked_at), (None, Some(fixture.now)));
    let shown = fixture.directory().api_key(revoked.id).await.unwrap();
    assert_eq!(shown.unwrap().last_used_at, None);
}

#[tokio::test]
async fn a_deactivated_user_is_not_active() {
    let fixture = Fixture::new().await;
    let (key, hash) = fixture.known_key().await;
    let change = UserChange {
        active: Some(false),
        ..UserChange::default()
    };
    let updated = fixture
        .directory()
        .update_user(key.responsible_user, &change)
        .await;
    assert!(!updated.unwrap().active);
    assert!(
        !authenticate(&fixture, &hash, fixture.now)
            .await
            .user_is_active
    );
}

#[tokio::test]
async fn a_user_of_another_group_is_not_active_for_the_key() {
    let fixture = Fixture::new().await;
    let (stranger, _) = fixture.known_key().await;
    let company = fixture
        .add(fixture.company(CompanyKind::Construction))
        .await;
    let (key, hash) = fixture.api_key(company, stranger.responsible_user);
    fixture
        .directory()
        .add_api_key(&key, &hash, None)
        .await
        .unwrap();
    assert!(
        !authenticate(&fixture, &hash, fixture.now)
            .await
            .user_is_active
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_requests_are_granted_exactly_the_limit() {
    let fixture = Arc::new(Fixture::new().await);
    let (_, hash) = fixture.known_key().await;
    let requests: Vec<_> = (0..200)
        .map(|_| {
            let (access, now) = (Arc::clone(&fixture.stores.access), fixture.now);
            tokio::spawn(async move { access.authenticate(&hash, RateLimit::default(), now).await })
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
async fn a_key_learns_of_its_companys_suspension_and_of_its_head_offices() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let head_office = fixture.payer().await;
    let branch = fixture.add(fixture.branch_of(head_office)).await;
    let mut hashes = Vec::new();
    for company in [head_office, branch] {
        let user = fixture.user(company);
        directory.add_user(&user, None).await.unwrap();
        let (key, hash) = fixture.api_key(company, user.id);
        directory.add_api_key(&key, &hash, None).await.unwrap();
        hashes.push(hash);
    }
    let suspended = async || {
        let (head, branch) = (&hashes[0], &hashes[1]);
        let head = authenticate(&fixture, head, fixture.now).await;
        let branch = authenticate(&fixture, branch, fixture.now).await;
        (head.company_is_suspended, branch.company_is_suspended)
    };
    let suspension = Suspension {
        since: fixture.now,
        reason: "Contrato em revisão".parse().unwrap(),
    };
    directory
        .suspend_company(branch, &suspension)
        .await
        .unwrap();
    assert_eq!(suspended().await, (false, true));
    directory
        .suspend_company(head_office, &suspension)
        .await
        .unwrap();
    directory.resume_company(branch).await.unwrap();
    assert_eq!(suspended().await, (true, true));
    directory.resume_company(head_office).await.unwrap();
    assert_eq!(suspended().await, (false, false));
}
