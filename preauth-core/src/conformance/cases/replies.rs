//! Idempotency: the reply of a key is stored with the commit that it belongs to.

use chrono::TimeDelta;

use crate::Policy;
use crate::conformance::scene::{Scene, created, target_of};
use crate::conformance::{Host, draft};
use crate::operation::{Actor, Command, Offer, Rejection};
use crate::port::{CommitError, OfferTarget, Reply, Viewer};
use crate::service::{OfferOutcome, ServiceError};
use crate::value::{IdempotencyKey, Timestamp};

/// The original answer is returned byte for byte, also after the operation has changed.
pub async fn a_repeated_offer_gets_its_original_answer(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (offer, key) = (scene.offer(), scene.new_key());
    let first = send(&scene, &offer, &key, scene.now).await.unwrap();
    let original = first.body().to_owned();
    let id = created(first).id;
    for command in [None, Some(Command::Cancel)] {
        scene
            .play(id, &command.into_iter().collect::<Vec<_>>())
            .await;
        let again = send(&scene, &offer, &key, scene.now).await.unwrap();
        let OfferOutcome::Replayed { body } = again else {
            panic!("created twice");
        };
        assert_eq!(body.as_bytes(), original.as_bytes());
    }
    let reply = stored_reply(&scene, &offer, &key).await.unwrap();
    assert_eq!(reply.operation, id);
    assert_eq!(reply.fingerprint, offer.fingerprints().compared());
    assert_eq!(reply.expires_at, scene.now.saturating_add(retention()));
}

/// A key that was used for one request is refused for another, even for an invalid one.
// Contract: create-call/other-body
pub async fn a_key_used_for_another_offer_is_refused(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (offer, key) = (scene.offer(), scene.new_key());
    created(send(&scene, &offer, &key, scene.now).await.unwrap());
    let mut another = scene.offer();
    another.invoice.due_date = scene.due_in(1);
    let refused = send(&scene, &another, &key, scene.now).await;
    let Err(ServiceError::IdempotencyKeyReused { operation }) = refused else {
        panic!("{refused:?}");
    };
    let reply = stored_reply(&scene, &offer, &key).await.unwrap();
    assert_eq!(operation, Some(reply.operation));
}

/// Keys of different head offices, and keys that differ in case, are independent.
pub async fn keys_of_other_groups_are_other_keys(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let key = scene.new_key();
    let capital = IdempotencyKey::parse(&key.as_str().to_uppercase()).unwrap();
    let offer = scene.offer();
    let mut elsewhere = scene.offer();
    elsewhere.payer = scene.another_payer().await;
    created(send(&scene, &offer, &key, scene.now).await.unwrap());
    created(send(&scene, &elsewhere, &key, scene.now).await.unwrap());
    created(
        send(&scene, &scene.offer(), &capital, scene.now)
            .await
            .unwrap(),
    );
}

/// A reply is valid until its end; from then on the key can be used again.
pub async fn an_expired_reply_is_replaced(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (first, second, key) = (scene.offer(), scene.offer(), scene.new_key());
    let original = created(send(&scene, &first, &key, scene.now).await.unwrap());
    let end = scene.now.saturating_add(retention());
    let last_moment = end.saturating_sub(TimeDelta::milliseconds(1));
    let refused = send(&scene, &second, &key, last_moment).await;
    let Err(ServiceError::IdempotencyKeyReused { .. }) = refused else {
        panic!("{refused:?}");
    };
    // Expired, but not replaced: it is still part of the input of the decision.
    let kept = stored_reply(&scene, &second, &key).await.unwrap();
    assert_eq!(kept.operation, original.id);
    let renewed = created(send(&scene, &second, &key, end).await.unwrap());
    let reply = stored_reply(&scene, &second, &key).await.unwrap();
    assert_eq!(reply.operation, renewed.id);
    assert_eq!(reply.expires_at, end.saturating_add(retention()));
}

/// A commit under a key with a valid reply conflicts, and nothing of it is written.
pub async fn a_live_reply_is_never_overwritten(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (first, second, key) = (scene.offer(), scene.offer(), scene.new_key());
    let store = host.store();
    let loaded = store.load_offer(&target(&second, &key)).await;
    let late = draft::opening(
        &scene,
        &second,
        &loaded.unwrap().unwrap(),
        Some(&key),
        scene.now,
    );
    created(send(&scene, &first, &key, scene.now).await.unwrap());
    let original = stored_reply(&scene, &first, &key).await;
    let (late_id, event) = (draft::id_of(&late), late.event.id);
    let refused = store.commit(late).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(stored_reply(&scene, &first, &key).await, original);
    let found = host.queries().find(Viewer::Platform, late_id).await;
    assert_eq!(found.unwrap(), None);
    assert!(host.deliveries(event).await.is_empty());
    assert!(host.mails_to(&second.supplier.email).await.is_empty());
    let free = store.load_offer(&target_of(&second)).await;
    assert_eq!(free.unwrap().unwrap().context.holder, None);
}

/// A refusal creates nothing, so the same key is decided again.
pub async fn a_refusal_is_not_remembered(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let holder = scene.begin(&scene.offer_of("NF-1")).await;
    let (offer, key) = (scene.offer_of("NF-1"), scene.new_key());
    let refused = send(&scene, &offer, &key, scene.now).await;
    let Err(ServiceError::Rejected(Rejection::DuplicateInvoice { .. })) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(stored_reply(&scene, &offer, &key).await, None);
    scene.play(holder.id, &[Command::Cancel]).await;
    created(send(&scene, &offer, &key, scene.now).await.unwrap());
}

async fn send(
    scene: &Scene<'_>,
    offer: &Offer,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<OfferOutcome, ServiceError> {
    scene
        .service
        .offer(offer, Actor::Company, Some(key), now)
        .await
}

fn target(offer: &Offer, key: &IdempotencyKey) -> OfferTarget {
    OfferTarget {
        idempotency_key: Some(key.clone()),
        ..target_of(offer)
    }
}

async fn stored_reply(scene: &Scene<'_>, offer: &Offer, key: &IdempotencyKey) -> Option<Reply> {
    let target = target(offer, key);
    let loaded = scene.host.store().load_offer(&target).await;
    loaded.unwrap().unwrap().reply
}

fn retention() -> TimeDelta {
    Policy::default().idempotency_retention
}
