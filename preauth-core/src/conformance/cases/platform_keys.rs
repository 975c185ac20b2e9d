//! Idempotency keys of the platform API: one namespace, stored with the commit of the new record.

use std::sync::{Arc, Mutex};

use chrono::TimeDelta;

use crate::Policy;
use crate::conformance::cases::announcements::receipt;
use crate::conformance::scene::Scene;
use crate::conformance::{Host, Task};
use crate::operation::{Actor, DirectAdvance, Operation};
use crate::port::{CommitError, Filter, PageRequest, PlatformReply, Viewer};
use crate::service::{OfferOutcome, Once, Operations, PlatformKey, ServiceError};
use crate::value::{Fingerprint, IdempotencyKey, Timestamp};

const INSTANCES: usize = 4;

/// One key creates one record, and its answer is returned byte for byte.
pub async fn a_platform_create_is_done_once_under_its_key(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (key, advance) = (scene.new_key(), scene.advance(scene.branch, None));
    let Once::Created(operation) = send(&scene.service, &key, 1, &advance, scene.now)
        .await
        .unwrap()
    else {
        panic!("replayed before it was created");
    };
    let again = send(&scene.service, &key, 1, &advance, scene.now).await;
    let Once::Replayed { body } = again.unwrap() else {
        panic!("created twice");
    };
    assert_eq!(body, shown(&operation));
    assert_eq!(count(&scene).await, 1);
    let kept = stored(&scene, &key).await.unwrap();
    let expected = PlatformReply {
        fingerprint: Fingerprint::from_bytes([1; 32]),
        body,
        expires_at: scene.now.saturating_add(retention()),
    };
    assert_eq!(kept, expected);
}

/// A key that was used for one request is refused for another, of the same or another kind.
pub async fn a_platform_key_used_for_another_request_is_refused(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (key, advance) = (scene.new_key(), scene.advance(scene.payer, None));
    created(send(&scene.service, &key, 1, &advance, scene.now).await);
    let refused = send(&scene.service, &key, 2, &advance, scene.now).await;
    let Err(ServiceError::IdempotencyKeyReused { operation: None }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(count(&scene).await, 1);
}

/// The keys of the platform and those of a head office are independent.
pub async fn a_platform_key_is_no_key_of_a_head_office(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (key, offer) = (scene.new_key(), scene.offer());
    let offered = scene
        .service
        .offer(&offer, Actor::Company, Some(&key), scene.now);
    offered.await.unwrap();
    assert_eq!(stored(&scene, &key).await, None);
    let advance = scene.advance(scene.payer, None);
    created(send(&scene.service, &key, 1, &advance, scene.now).await);
    let again = scene
        .service
        .offer(&offer, Actor::Company, Some(&key), scene.now);
    assert!(matches!(again.await, Ok(OfferOutcome::Replayed { .. })));
}

/// A reply is valid until its end; from then on the key can be used again.
pub async fn an_expired_platform_reply_is_replaced(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (key, advance) = (scene.new_key(), scene.advance(scene.payer, None));
    created(send(&scene.service, &key, 1, &advance, scene.now).await);
    let end = scene.now.saturating_add(retention());
    let last_moment = end.saturating_sub(TimeDelta::milliseconds(1));
    let refused = send(&scene.service, &key, 2, &advance, last_moment).await;
    let Err(ServiceError::IdempotencyKeyReused { operation: None }) = refused else {
        panic!("{refused:?}");
    };
    let renewed = created(send(&scene.service, &key, 2, &advance, end).await);
    let kept = stored(&scene, &key).await.unwrap();
    assert_eq!(kept.body, shown(&renewed));
    assert_eq!(kept.expires_at, end.saturating_add(retention()));
}

/// A commit under a platform key with a valid reply conflicts, and nothing of it is written.
pub async fn a_live_platform_reply_is_never_overwritten(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let key = scene.new_key();
    let (mut receipt, _) = receipt(&scene, scene.payer).await;
    receipt.reply = Some(platform_key(&scene.service, &key, 2).reply("late".to_owned()));
    let late = receipt.event.id;
    let advance = scene.advance(scene.payer, None);
    let operation = created(send(&scene.service, &key, 1, &advance, scene.now).await);
    let refused = host.store().commit(receipt).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert!(host.deliveries(late).await.is_empty());
    assert_eq!(stored(&scene, &key).await.unwrap().body, shown(&operation));
}

/// A refusal creates nothing, so the same key is decided again.
pub async fn a_refused_platform_create_is_not_remembered(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let key = scene.new_key();
    let mut advance = scene.advance(scene.payer, None);
    advance.supplier = scene.new_cnpj();
    let refused = send(&scene.service, &key, 1, &advance, scene.now).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(stored(&scene, &key).await, None);
    advance.supplier = scene.supplier.cnpj;
    created(send(&scene.service, &key, 2, &advance, scene.now).await);
}

/// 100 creates with one key, sent to several instances: one record, and every caller gets its answer or
/// "in progress". No other rule would refuse the second.
pub async fn one_platform_key_creates_one_record_however_often_it_is_sent(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (key, advance) = (scene.new_key(), scene.advance(scene.payer, None));
    let services: Vec<_> = (0..INSTANCES)
        .map(|_| Arc::new(scene.another_service()))
        .collect();
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let tasks = (0..100).map(|n| -> Task {
        let (service, outcomes) = (Arc::clone(&services[n % INSTANCES]), Arc::clone(&outcomes));
        let (key, advance, now) = (key.clone(), advance.clone(), scene.now);
        Box::pin(async move {
            let outcome = send(&service, &key, 1, &advance, now).await;
            outcomes.lock().unwrap().push(outcome);
        })
    });
    host.join_all(tasks.collect()).await;
    assert_eq!(count(&scene).await, 1);
    let answer = stored(&scene, &key).await.unwrap().body;
    let mut made = 0;
    for outcome in outcomes.lock().unwrap().drain(..) {
        match outcome {
            Ok(Once::Created(operation)) => {
                made += 1;
                assert_eq!(shown(&operation), answer);
            }
            Ok(Once::Replayed { body }) => assert_eq!(body, answer),
            Err(ServiceError::IdempotencyInProgress) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(made, 1);
}

/// Creates a direct advance under a platform key, as the platform API does.
async fn send(
    service: &Operations,
    key: &IdempotencyKey,
    request: u8,
    advance: &DirectAdvance,
    now: Timestamp,
) -> Result<Once<Operation>, ServiceError> {
    let key = platform_key(service, key, request);
    let reply = |operation: &Operation| key.reply(shown(operation));
    let create = async {
        let begun = service.advance_directly(advance, Actor::Supplier, Some(&reply), now);
        Ok(crate::conformance::scene::created(begun.await?))
    };
    service.once(&key, now, create).await
}

fn platform_key(service: &Operations, key: &IdempotencyKey, request: u8) -> PlatformKey {
    service.platform_key(key.clone(), Fingerprint::from_bytes([request; 32]).into())
}

/// The body of an answer, unique to the operation.
fn shown(operation: &Operation) -> String {
    format!("{{\"id\":{},\"é\":\"ção 漢\"}}", operation.id)
}

fn created(outcome: Result<Once<Operation>, ServiceError>) -> Operation {
    match outcome {
        Ok(Once::Created(operation)) => operation,
        other => panic!("{other:?}"),
    }
}

async fn stored(scene: &Scene<'_>, key: &IdempotencyKey) -> Option<PlatformReply> {
    scene.host.store().load_platform_reply(key).await.unwrap()
}

/// The number of operations of the payer's group.
async fn count(scene: &Scene<'_>) -> u64 {
    let viewer = Viewer::HeadOffice(scene.payer);
    let page = PageRequest { page: 1, limit: 10 };
    let listed = scene
        .host
        .queries()
        .list(viewer, &Filter::default(), page)
        .await;
    listed.unwrap().total
}

fn retention() -> TimeDelta {
    Policy::default().idempotency_retention
}
