//! The register of API keys.

use chrono::TimeDelta;
use preauth_core::value::{ApiKeyId, CompanyId, UserId};
use preauth_server::access::RateLimit;
use preauth_server::access::{KeyFragment, NewApiKey};
use preauth_server::directory::{ApiKey, DirectoryError};
use secrecy::ExposeSecret;

use crate::store::fixture::{FIRST_PAGE, Fixture};

#[tokio::test]
async fn a_key_is_kept_without_its_secret_and_shows_its_last_use() {
    let fixture = Fixture::new().await;
    let (key, hash) = fixture.known_key().await;
    let kept = fixture.directory().api_key(key.id).await.unwrap();
    assert_eq!(kept.as_ref(), Some(&key));
    let used_at = fixture.later(TimeDelta::minutes(5));
    let entered = fixture
        .stores
        .access
        .authenticate(&hash, RateLimit::default(), used_at);
    entered.await.unwrap().unwrap();
    let kept = fixture.directory().api_key(key.id).await.unwrap();
    assert_eq!(kept.unwrap().last_used_at, Some(used_at));
}

#[tokio::test]
async fn a_key_needs_a_company_and_a_user() {
    let fixture = Fixture::new().await;
    let (known, _) = fixture.known_key().await;
    let nobody = UserId::new(fixture.uuid());
    let nowhere = CompanyId::new(fixture.uuid());
    for (company, user) in [(known.company, nobody), (nowhere, known.responsible_user)] {
        let (key, hash) = fixture.api_key(company, user);
        let added = fixture.directory().add_api_key(&key, &hash, None).await;
        assert!(matches!(added, Err(DirectoryError::NotFound)));
    }
}

#[tokio::test]
async fn two_keys_never_have_one_hash() {
    let fixture = Fixture::new().await;
    let (known, hash) = fixture.known_key().await;
    let (key, _) = fixture.api_key(known.company, known.responsible_user);
    let added = fixture.directory().add_api_key(&key, &hash, None).await;
    assert!(matches!(added, Err(DirectoryError::Conflict)));
}

#[tokio::test]
async fn revoking_again_changes_nothing() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let (key, _) = fixture.known_key().await;
    directory.revoke_api_key(key.id, fixture.now).await.unwrap();
    let later = fixture.later(TimeDelta::hours(1));
    directory.revoke_api_key(key.id, later).await.unwrap();
    let kept = directory.api_key(key.id).await.unwrap().unwrap();
    assert_eq!(kept.revoked_at, Some(fixture.now));
    let unknown = ApiKeyId::new(fixture.uuid());
    let revoked = directory.revoke_api_key(unknown, later).await;
    assert!(matches!(revoked, Err(DirectoryError::NotFound)));
    assert_eq!(directory.api_key(unknown).await.unwrap(), None);
}

#[tokio::test]
async fn a_companys_keys_are_listed_newest_first() {
    let fixture = Fixture::new().await;
    let (old, _) = fixture.known_key().await;
    fixture.known_key().await;
    let (mut new, hash) = fixture.api_key(old.company, old.responsible_user);
    new.created_at = fixture.later(TimeDelta::minutes(1));
    fixture
        .directory()
        .add_api_key(&new, &hash, None)
        .await
        .unwrap();
    let page = fixture.directory().api_keys(old.company, FIRST_PAGE).await;
    let page = page.unwrap();
    assert_eq!((page.items, page.total), (vec![new, old], 2));
}

#[tokio::test]
async fn keys_are_found_by_how_they_begin_in_all_companies() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let add = async |prefix: &str, minutes| {
        let (known, _) = fixture.known_key().await;
        let (mut key, hash) = fixture.api_key(known.company, known.responsible_user);
        prefix.clone_into(&mut key.prefix);
        key.created_at = fixture.later(TimeDelta::minutes(minutes));
        directory.add_api_key(&key, &hash, None).await.unwrap();
        key
    };
    let old = add("service_sk_ddcd", 1).await;
    let new = add("service_sk_ddcd", 2).await;
    let other = add("service_sk_ddff", 0).await;
    for apart in ["service_sk_dcff", "service_sk_de00"] {
        add(apart, 0).await;
    }
    let find = async |text: &str, limit| {
        let fragment = KeyFragment::cut(text).unwrap();
        directory.find_api_keys(&fragment, limit).await.unwrap()
    };
    assert_eq!(find("service_sk_ddcd", 9).await, [new.clone(), old.clone()]);
    assert_eq!(find("service_sk_dd", 9).await, [new.clone(), old, other]);
    assert_eq!(find("service_sk_dd", 1).await, [new]);
    assert_eq!(find("service_sk_ddce", 9).await, []);
}

#[tokio::test]
async fn a_whole_key_finds_no_other_that_begins_like_it() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let (known, _) = fixture.known_key().await;
    let secret = NewApiKey::generate();
    let (like_it, hash) = fixture.api_key(known.company, known.responsible_user);
    let mut like_it = ApiKey {
        prefix: secret.prefix.clone(),
        ..like_it
    };
    directory.add_api_key(&like_it, &hash, None).await.unwrap();
    let whole = KeyFragment::cut(secret.clear_text.expose_secret()).unwrap();
    let found = directory.find_api_keys(&whole, 9).await.unwrap();
    assert_eq!(found, [], "it was never issued");
    like_it.id = ApiKeyId::new(fixture.uuid());
    directory
        .add_api_key(&like_it, &secret.hash, None)
        .await
        .unwrap();
    let found = directory.find_api_keys(&whole, 9).await.unwrap();
    assert_eq!(found, [like_it]);
}
