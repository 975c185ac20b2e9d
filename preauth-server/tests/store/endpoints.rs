//! The register of endpoints.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::{Claim, Leased};
use preauth_core::value::{CompanyId, EventType, EventTypeSet, Timestamp};
use preauth_server::directory::{DirectoryError, KeptSecret, Replaced, ResealedSecret};

use crate::store::fixture::{Fixture, secret};

async fn claim(fixture: &Fixture, now: Timestamp) -> Vec<Leased> {
    let claim = Claim {
        now,
        lease: TimeDelta::zero(),
        limit: 10,
        slow_limit: 10,
        per_endpoint: NonZeroU32::new(10).unwrap(),
        per_slow_endpoint: NonZeroU32::new(10).unwrap(),
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::new(10).unwrap(),
    };
    fixture.stores.outbox.claim(&claim).await.unwrap().leased
}

#[tokio::test]
async fn an_endpoint_is_kept_and_changed() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let payer = fixture.payer().await;
    let mut endpoint = fixture.add_endpoint(payer).await;
    let kept = directory.endpoint(payer).await.unwrap();
    assert_eq!(kept.as_ref(), Some(&endpoint));
    endpoint.url = "https://other.example.com/".to_owned();
    endpoint.events = [EventType::AnticipationPaid].into_iter().collect();
    let changed = directory.update_endpoint(payer, &endpoint.url, endpoint.events);
    assert_eq!(changed.await.unwrap(), endpoint);
    let emptied = directory.update_endpoint(payer, &endpoint.url, EventTypeSet::new());
    assert!(emptied.await.unwrap().events.is_empty());
}

// Contract: endpoint/one
#[tokio::test]
async fn only_a_head_office_has_an_endpoint_and_only_one() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    let second = fixture.try_add_endpoint(payer).await;
    assert!(matches!(second, Err(DirectoryError::Conflict)));
    let branch = fixture.add(fixture.branch_of(payer)).await;
    for nobody in [branch, CompanyId::new(fixture.uuid())] {
        let added = fixture.try_add_endpoint(nobody).await;
        assert!(matches!(added, Err(DirectoryError::NotFound)));
    }
}

#[tokio::test]
async fn an_endpoint_that_is_not_registered_cannot_be_changed() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let payer = fixture.payer().await;
    let now = fixture.now;
    let update = directory.update_endpoint(payer, "https://a.example.com/", EventTypeSet::all());
    assert!(matches!(update.await, Err(DirectoryError::NotFound)));
    let pause = directory.set_endpoint_paused(payer, true, now);
    assert!(matches!(pause.await, Err(DirectoryError::NotFound)));
    let new = secret(2);
    let rotate = directory.rotate_secret(
        preauth_core::value::EndpointId::new(uuid::Uuid::nil()),
        &new,
        now,
        now,
    );
    assert!(matches!(rotate.await, Err(DirectoryError::NotFound)));
    let delete = directory.delete_endpoint(payer, now);
    assert!(matches!(delete.await, Err(DirectoryError::NotFound)));
    assert_eq!(directory.endpoint(payer).await.unwrap(), None);
}

#[tokio::test]
async fn a_removed_endpoint_makes_room_for_another() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    directory.delete_endpoint(payer, fixture.now).await.unwrap();
    assert_eq!(directory.endpoint(payer).await.unwrap(), None);
    let next = fixture.add_endpoint(payer).await;
    assert_eq!(directory.endpoint(payer).await.unwrap(), Some(next));
    let secrets: i64 = sqlx::query_scalar("SELECT count(*) FROM endpoint_secrets")
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    assert_eq!(secrets, 1);
}

#[tokio::test]
async fn pausing_again_changes_nothing_and_resuming_makes_everything_due() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let (payer, now) = (fixture.payer().await, fixture.now);
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let later = fixture.later(TimeDelta::hours(1));
    for at in [now, later] {
        let paused = directory.set_endpoint_paused(payer, true, at).await;
        assert_eq!(paused.unwrap().paused_at, Some(now));
    }
    assert!(claim(&fixture, later).await.is_empty());
    put_off(&fixture, fixture.later(TimeDelta::days(1))).await;
    let resumed = directory.set_endpoint_paused(payer, false, later).await;
    assert_eq!(resumed.unwrap().paused_at, None);
    let outbox = &fixture.stores.outbox;
    assert_eq!(outbox.next_due().await.unwrap(), Some(later));
    assert!(claim(&fixture, now).await.is_empty());
    assert_eq!(claim(&fixture, later).await.len(), 1);
}

#[tokio::test]
async fn the_secrets_in_force_are_given_out_newest_first() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let (payer, now) = (fixture.payer().await, fixture.now);
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let in_force = async |minutes| {
        let claimed = claim(&fixture, fixture.later(TimeDelta::minutes(minutes))).await;
        claimed[0]
            .sealed_secrets
            .iter()
            .map(|it| it[0])
            .collect::<Vec<_>>()
    };
    let endpoint = directory.endpoint(payer).await.unwrap().unwrap().id;
    let rotate = async |byte, at: i64, until: i64| {
        let minutes = |minutes| now.saturating_add(TimeDelta::minutes(minutes));
        let new = secret(byte);
        let rotated = directory.rotate_secret(endpoint, &new, minutes(at), minutes(until));
        rotated.await.unwrap();
    };
    assert_eq!(in_force(0).await, [1]);
    rotate(2, 1, 10).await;
    assert_eq!(in_force(1).await, [2, 1]);
    // The first one keeps its earlier end.
    rotate(3, 2, 20).await;
    assert_eq!(in_force(9).await, [3, 2, 1]);
    assert_eq!(in_force(10).await, [3, 2]);
    assert_eq!(in_force(20).await, [3]);
    rotate(4, 21, 21).await;
    assert_eq!(in_force(21).await, [4]);
}

#[tokio::test]
async fn secrets_in_force_are_seen_page_by_page_and_replaced_only_where_they_stand() {
    let fixture = Fixture::new().await;
    let (directory, now) = (fixture.directory(), fixture.now);
    let mut endpoints = Vec::new();
    for _ in 0..2 {
        let payer = fixture.payer().await;
        endpoints.push(fixture.add_endpoint(payer).await.id);
    }
    let soon = fixture.later(TimeDelta::minutes(1));
    let second = secret(2);
    let rotate = directory.rotate_secret(endpoints[0], &second, now, soon);
    rotate.await.unwrap();
    let in_force = async |now| {
        let mut all: Vec<KeptSecret> = Vec::new();
        loop {
            let after = all.last().map(|last| last.id);
            let page = directory.secrets_in_force(now, after, 1).await.unwrap();
            if page.is_empty() {
                return all;
            }
            assert_eq!(page.len(), 1);
            all.extend(page);
        }
    };
    let all = in_force(now).await;
    assert_eq!(all.len(), 3);
    assert_eq!(in_force(soon).await.len(), 2, "what has ended is not shown");

    let resealed = |kept: &KeptSecret, byte| ResealedSecret {
        kept: kept.clone(),
        sealed: secret(byte),
    };
    let batch = all.iter().map(|kept| resealed(kept, 9)).collect();
    let done = |replaced| Replaced { replaced, held: 0 };
    assert_eq!(directory.replace_secrets(batch).await.unwrap(), done(3));
    // The previous values are not stored any more.
    let late = all.iter().map(|kept| resealed(kept, 8)).collect();
    assert_eq!(directory.replace_secrets(late).await.unwrap(), done(0));
    let after = in_force(now).await;
    assert!(after.iter().all(|kept| kept.sealed == secret(9)));
    let ids = |all: &[KeptSecret]| all.iter().map(|kept| kept.id).collect::<Vec<_>>();
    assert_eq!(ids(&all), ids(&after));
}

#[tokio::test]
async fn a_new_address_counts_for_pending_deliveries_too() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let url = "https://other.example.com/";
    let changed = fixture
        .directory()
        .update_endpoint(payer, url, EventTypeSet::all());
    changed.await.unwrap();
    assert_eq!(claim(&fixture, fixture.now).await[0].url, url);
}

#[tokio::test]
async fn an_endpoint_shows_its_last_success() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let leased = claim(&fixture, fixture.now).await.remove(0);
    let at = fixture.later(TimeDelta::seconds(3));
    crate::store::deliveries::deliver(&fixture, &leased, at).await;
    let kept = fixture.directory().endpoint(payer).await.unwrap();
    assert_eq!(kept.unwrap().last_success_at, Some(at));
}

async fn put_off(fixture: &Fixture, until: Timestamp) {
    sqlx::query("UPDATE deliveries SET next_attempt_at = $1")
        .bind(until.unix_millis())
        .execute(&fixture.sql)
        .await
        .unwrap();
}
