//! Deliveries and their endpoints.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::Verdict;
use preauth_core::value::{CompanyId, EnumSet};
use preauth_server::audit_trail::auditing;
use preauth_server::directory::{EndedStatus, KeptSecret, ResealedSecret, ResendRange, SecretId};

use super::{Office, STEP, request};
use crate::store::deliveries::{claim_up_to, deliver as finish, fail};
use crate::store::fixture::{Fixture, secret};

/// Delivers all that is due, but for one delivery that is given back first.
pub(super) async fn deliver(fixture: &Fixture) {
    let outbox = &fixture.stores.outbox;
    let few = NonZeroU32::new(STEP).unwrap();
    outbox.next_due().await.unwrap();
    let leased = claim_up_to(fixture, fixture.now, NonZeroU32::MIN).await;
    let leased = leased.first().unwrap();
    outbox.note_slow(&[leased.endpoint]).await.unwrap();
    outbox.release(leased).await.unwrap();
    loop {
        let leased = claim_up_to(fixture, fixture.now, few).await;
        if leased.is_empty() {
            return;
        }
        for leased in leased {
            finish(fixture, &leased, fixture.now).await;
        }
    }
}

/// One delivery fails, waits, is given up, and is resent in each way.
pub(super) async fn resend(fixture: &Fixture, payer: CompanyId) {
    let (directory, now) = (fixture.directory(), fixture.now);
    deliver(fixture).await;
    fixture.offer(payer).await;
    let later = fixture.later(TimeDelta::hours(1));
    let leased = claim_up_to(fixture, now, NonZeroU32::MIN).await.remove(0);
    let id = leased.delivery;
    directory.hasten(id, now).await.unwrap();
    let wait = Verdict::RetryAt {
        at: later,
        pause_endpoint: false,
    };
    fail(fixture, &leased, wait).await;
    assert!(directory.delivery(id).await.unwrap().is_some());
    let hasten = directory.hasten(id, now);
    auditing(request(fixture, format!("deliveries/{id}")), hasten)
        .await
        .unwrap();
    directory.resend(id, now).await.unwrap_err();
    let give_up = async || {
        let leased = claim_up_to(fixture, now, NonZeroU32::MIN).await.remove(0);
        let pause_endpoint = false;
        fail(fixture, &leased, Verdict::Failed { pause_endpoint }).await;
    };
    give_up().await;
    directory.resend(id, now).await.unwrap();
    give_up().await;
    let failed = directory.resend_failed(payer, now, now, STEP).await;
    assert!(failed.unwrap() > 0);
    give_up().await;
    let range = ResendRange {
        company: payer,
        since: now,
        until: later,
        event_types: None,
        statuses: EnumSet::<EndedStatus>::all(),
        began_at: later,
    };
    let found = directory.resendable(&range, None, STEP).await.unwrap();
    let resent = directory.resend_ended(&range, found.deliveries, now).await;
    assert!(resent.unwrap() > 0);
    deliver(fixture).await;
}

/// An endpoint is changed in each way, and removed with a delivery that waits.
pub(super) async fn endpoint(fixture: &Fixture) {
    let (directory, now) = (fixture.directory(), fixture.now);
    let Office {
        payer, endpoint, ..
    } = Office::new(fixture).await;
    let known = directory.endpoint(payer).await.unwrap().unwrap();
    let updated = directory.update_endpoint(payer, &known.url, known.events);
    let record = format!("companies/{payer}");
    auditing(request(fixture, record), updated).await.unwrap();
    let later = fixture.later(TimeDelta::hours(1));
    let new = secret(2);
    let rotated = directory.rotate_secret(endpoint, &new, now, later);
    rotated.await.unwrap();
    let before = SecretId {
        endpoint,
        number: 0,
    };
    let kept = directory.secrets_in_force(now, Some(before), STEP).await;
    let kept: Vec<KeptSecret> = kept.unwrap();
    let reseal = |kept: &KeptSecret| ResealedSecret {
        kept: kept.clone(),
        sealed: secret(3),
    };
    let resealed: Vec<_> = kept.iter().map(reseal).collect();
    let replaced = directory.replace_secrets(resealed.clone()).await.unwrap();
    assert_eq!(replaced.replaced, 2);
    // Their bytes are others by now.
    directory.replace_secrets(resealed).await.unwrap();
    directory.slow_endpoints().await.unwrap();
    fixture.offer(payer).await;
    for paused in [true, false] {
        let set = directory.set_endpoint_paused(payer, paused, later).await;
        set.unwrap();
    }
    let lost = directory.secrets_in_force(now, Some(before), STEP).await;
    let abandoned = directory.abandon_secrets(lost.unwrap(), now).await;
    assert_eq!(abandoned.unwrap().len(), 1);
    directory.delete_endpoint(payer, later).await.unwrap();
}
