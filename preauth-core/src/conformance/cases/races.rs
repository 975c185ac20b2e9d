//! Concurrent requests: exactly one succeeds, and every answer is correct.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;

use crate::conformance::draft;
use crate::conformance::post::{attempt_of, claim};
use crate::conformance::scene::{Scene, target_of};
use crate::conformance::{Host, Task};
use crate::operation::{Action, Actor, Change, Closing, Command, Offer, Rejection};
use crate::port::{Commit, DeliveryStatus, Filter, MailKind, PageRequest, Verdict, Viewer};
use crate::service::{CommandOutcome, OfferOutcome, Operations, ServiceError};
use crate::value::{EventType, IdempotencyKey, OperationId, Status, SupplierName};

const INSTANCES: usize = 4;

/// 100 creates with one key: one operation, and every caller gets its answer or "in progress".
pub async fn one_key_creates_one_operation_however_often_it_is_sent(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (offer, key) = (scene.offer(), scene.new_key());
    let offers = vec![(offer.clone(), Some(key.clone())); 100];
    let outcomes = offer_all(&scene, offers).await;
    let operation = only_operation(&scene).await;
    let again = scene
        .service
        .offer(&offer, Actor::Company, Some(&key), scene.now)
        .await;
    let answer = again.unwrap().body().to_owned();
    let mut created = 0;
    for outcome in outcomes {
        match outcome {
            Ok(OfferOutcome::Created {
                operation: it,
                body,
            }) => {
                created += 1;
                assert_eq!((it.id, body), (operation, answer.clone()));
            }
            Ok(OfferOutcome::Replayed { body }) => assert_eq!(body, answer),
            Err(ServiceError::IdempotencyInProgress) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(created, 1);
    assert_eq!(scene.history(operation).await.len(), 1);
    assert_eq!(host.mails_to(&offer.supplier.email).await.len(), 1);
}

/// 100 creates of one invoice, each with its own key: one is created, 99 answers name it.
pub async fn one_invoice_is_created_once_however_many_ask(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let offer = scene.offer();
    let offers = (0..100).map(|_| (offer.clone(), Some(scene.new_key())));
    let outcomes = offer_all(&scene, offers.collect()).await;
    let operation = only_operation(&scene).await;
    let mut created = 0;
    for outcome in outcomes {
        match outcome {
            Ok(OfferOutcome::Created { operation: it, .. }) => {
                created += 1;
                assert_eq!(it.id, operation);
            }
            Err(ServiceError::Rejected(Rejection::DuplicateInvoice { existing })) => {
                assert_eq!(existing, operation);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(created, 1);
    assert_eq!(scene.history(operation).await.len(), 1);
}

/// Offers to one new supplier at the same time: all succeed, and it is invited once.
pub async fn a_new_supplier_is_invited_once_however_many_offer(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (cnpj, email) = (scene.new_cnpj(), scene.new_email());
    let offers = (0..20).map(|_| {
        let mut offer = scene.offer_to_a_new_supplier(cnpj);
        offer.supplier.email = email.clone();
        (offer, None)
    });
    let outcomes = offer_all(&scene, offers.collect()).await;
    let mut suppliers: Vec<_> = outcomes
        .into_iter()
        .map(|outcome| crate::conformance::scene::created(outcome.unwrap()).supplier)
        .collect();
    suppliers.dedup();
    assert_eq!(suppliers.len(), 1);
    let mails = host.mails_to(&email).await;
    assert_eq!(mails.len(), 20);
    let is_invitation = |mail: &(MailKind, String)| mail.0 == MailKind::Invitation;
    assert!(mails.iter().all(is_invitation));
}

/// Offers of several head offices to one new supplier at the same time: all succeed, there is one
/// supplier, and each head office sees the name that it gave.
pub async fn several_head_offices_invite_one_supplier_at_once(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let cnpj = scene.new_cnpj();
    let mut payers = vec![scene.payer];
    for _ in 0..3 {
        payers.push(scene.another_payer().await);
    }
    let offers = (0..20).map(|n| {
        let mut offer = scene.offer_to_a_new_supplier(cnpj);
        offer.payer = payers[n % payers.len()];
        let name = format!("Fornecedora de {}", offer.payer);
        offer.supplier.name = Some(SupplierName::parse(&name).unwrap());
        (offer, None)
    });
    let outcomes = offer_all(&scene, offers.collect()).await;
    let mut suppliers = Vec::new();
    for outcome in outcomes {
        let operation = crate::conformance::scene::created(outcome.unwrap());
        let name = format!("Fornecedora de {}", operation.payer.company);
        assert_eq!(operation.supplier.name.as_str(), name);
        assert_eq!(scene.stored(operation.id).await, operation);
        suppliers.push(operation.supplier.company);
    }
    suppliers.dedup();
    assert_eq!(suppliers.len(), 1);
}

/// 50 cancels and one request of the supplier: one outcome, one event.
pub async fn cancels_and_a_request_have_one_outcome(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    let mut commands = vec![Command::Cancel; 50];
    commands.insert(25, Command::Request);
    let outcomes = command_all(&scene, id, commands).await;
    let history = scene.history(id).await;
    assert_eq!(history.len(), 2);
    let event = *history[1].event_type.known().unwrap();
    let status = scene.stored(id).await.status();
    let request_won = match status {
        Status::ToApprove => true,
        Status::Reproved => false,
        other => panic!("{other}"),
    };
    let expected = if request_won {
        EventType::AnticipationRequested
    } else {
        EventType::PreAuthorizationRevoked
    };
    assert_eq!(event, expected);
    let mut changes = 0;
    for outcome in outcomes {
        match outcome {
            Ok(CommandOutcome {
                event: Some(it),
                operation,
            }) => {
                changes += 1;
                assert_eq!((it, operation.status()), (event, status));
            }
            Ok(CommandOutcome { event: None, .. }) => {
                assert!(!request_won, "nothing was cancelled");
            }
            Err(ServiceError::Rejected(Rejection::AlreadyRequested)) => assert!(request_won),
            Err(ServiceError::Rejected(Rejection::InvalidTransition { .. })) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(changes, 1);
}

/// Many sweepers find one overdue offer: its expiry is recorded once.
pub async fn an_expiry_is_recorded_once_however_many_sweep(host: &dyn Host) {
    let mut scene = Scene::new(host).await;
    let offer = scene.begin(&scene.offer()).await;
    let end = offer.expires_at.unwrap();
    scene.now = end.saturating_add(TimeDelta::milliseconds(1));
    let outcomes = command_all(&scene, offer.id, vec![Command::Expire; 20]).await;
    let recorded = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(recorded, 1);
    assert_eq!(scene.history(offer.id).await.len(), 2);
}

/// Offers are swept by several at once while their payer cancels them: one outcome each, one event,
/// one delivery.
pub async fn sweeps_and_cancels_have_one_outcome_each(host: &dyn Host) {
    const OFFERS: usize = 40;
    const SWEEPS: usize = 3;
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let mut overdue = Vec::new();
    let mut late = scene.now;
    for _ in 0..OFFERS {
        let offer = scene.begin(&scene.offer()).await;
        late = offer
            .expires_at
            .unwrap()
            .saturating_add(TimeDelta::milliseconds(1));
        let loaded = host.store().load_operation(offer.id).await.unwrap();
        overdue.push(loaded.unwrap());
    }
    let expired = Change::Closed(Closing {
        action: Action::Expire,
        given_reason: None,
    });
    let sweeps: Vec<Vec<Commit>> = (0..SWEEPS)
        .map(|_| {
            let expiry = |loaded| draft::change(&scene, loaded, &expired, late);
            overdue.iter().map(expiry).collect()
        })
        .collect();
    let (services, now) = (instances(&scene), scene.now);
    let done: usize = at_once(&scene, SWEEPS + OFFERS, |n| {
        let (store, sweep) = (host.store(), sweeps.get(n).cloned());
        let service = Arc::clone(&services[n % INSTANCES]);
        let id = overdue[n.saturating_sub(SWEEPS)].operation.id;
        async move {
            if let Some(commits) = sweep {
                let outcomes = store.commit_all(commits).await;
                outcomes.iter().filter(|outcome| outcome.is_ok()).count()
            } else {
                let viewer = Viewer::Platform;
                let cancelled = service.command(viewer, id, &Command::Cancel, Actor::Company, now);
                usize::from(cancelled.await.is_ok())
            }
        }
    })
    .await
    .into_iter()
    .sum();
    assert_eq!(done, OFFERS);
    for loaded in overdue {
        let history = scene.history(loaded.operation.id).await;
        assert_eq!(history.len(), 2);
        assert_eq!(host.deliveries(history[1].id).await.len(), 1);
    }
}

/// Ids reserved at the same time are different.
pub async fn ids_reserved_at_the_same_time_are_different(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let target = target_of(&scene.offer());
    let store = host.store();
    let mut ids = at_once(&scene, 50, |_| {
        let (store, target) = (Arc::clone(&store), target.clone());
        async move { store.load_offer(&target).await.unwrap().unwrap().context.id }
    })
    .await;
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 50);
}

/// Concurrent claims never lease a delivery twice, nor exceed the limit of an endpoint.
pub async fn concurrent_claims_share_the_deliveries(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    for _ in 0..40 {
        scene.post().await;
    }
    let outbox = host.outbox();
    let now = scene.now;
    let bounded = at_once(&scene, 8, |_| {
        let outbox = Arc::clone(&outbox);
        async move { outbox.claim(&claim(now, 10, 30)).await.unwrap().leased }
    })
    .await;
    let mut given: Vec<_> = bounded
        .into_iter()
        .flatten()
        .map(|it| it.delivery)
        .collect();
    let count = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), count, "a delivery was given out twice");
    // Close to the limit, concurrent claims may leave deliveries for the next claim.
    given.extend(scene.claim_up_to(30).await);
    assert_eq!(given.len(), 30);
}

/// Attempts that end at the same time are recorded separately: each with its own verdict, and not if its
/// lease is no longer the newest.
pub async fn attempts_that_end_together_are_distinguished(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    scene.endpoint(scene.supplier.id).await;
    for _ in 0..12 {
        scene.post().await;
    }
    let mut leased = scene.claim_at(scene.now).await;
    assert_eq!(leased.len(), 24);
    leased.sort_unstable_by_key(|it| (it.endpoint, it.token));
    // For each endpoint a third is released, a third succeeds, and a third fails; the failures
    // pause the payer's endpoint, whose successes are no younger than what the leases know of.
    let ends = |n: usize, endpoint| match n % 3 {
        0 => None,
        1 => Some(Verdict::Delivered),
        _ => Some(Verdict::Failed {
            pause_endpoint: endpoint == payers,
        }),
    };
    let outbox = host.outbox();
    let registered_at = scene.earlier(TimeDelta::days(1));
    let attempt_of = |verdict| match verdict {
        Verdict::Delivered => attempt_of(verdict, registered_at),
        _ => attempt_of(verdict, scene.now),
    };
    for (n, leased) in leased.iter().enumerate() {
        if ends(n, leased.endpoint).is_none() {
            outbox.release(leased).await.unwrap();
        }
    }
    let ended = at_once(&scene, leased.len(), |n| {
        let (outbox, leased) = (Arc::clone(&outbox), leased[n].clone());
        let verdict = ends(n, leased.endpoint).unwrap_or(Verdict::Delivered);
        let attempt = attempt_of(verdict);
        async move {
            let finished = outbox.finish(&leased, &attempt, verdict).await;
            (n, finished.unwrap())
        }
    })
    .await;
    assert_eq!(ended.len(), leased.len());
    for (n, is_recorded) in ended {
        assert_eq!(is_recorded, ends(n, leased[n].endpoint).is_some());
    }
    for (n, leased) in leased.iter().enumerate() {
        let deliveries = host.deliveries(leased.event).await;
        let delivery = deliveries.iter().find(|it| it.id == leased.delivery);
        let delivery = delivery.unwrap();
        let verdict = ends(n, leased.endpoint);
        let attempts: Vec<_> = verdict.map(attempt_of).into_iter().collect();
        assert_eq!(delivery.attempts, attempts);
        let status = match verdict {
            None | Some(Verdict::RetryAt { .. }) => DeliveryStatus::Pending,
            Some(Verdict::Delivered) => DeliveryStatus::Delivered,
            Some(Verdict::Failed { .. }) => DeliveryStatus::Failed,
        };
        assert_eq!(delivery.status, status);
    }
    let waiting = scene.claim_at(scene.now).await;
    assert_eq!(waiting.len(), 4);
    assert!(waiting.iter().all(|it| it.endpoint != payers), "given up");
}

impl Scene<'_> {
    async fn claim_up_to(&self, per_endpoint: u32) -> Vec<crate::value::DeliveryId> {
        let claim = claim(self.now, 1_000, per_endpoint);
        let claimed = self.host.outbox().claim(&claim).await.unwrap();
        let leased = claimed.leased.into_iter();
        leased.map(|leased| leased.delivery).collect()
    }
}

async fn only_operation(scene: &Scene<'_>) -> OperationId {
    let viewer = Viewer::HeadOffice(scene.payer);
    let page = PageRequest { page: 1, limit: 10 };
    let queries = scene.host.queries();
    let listed = queries.list(viewer, &Filter::default(), page).await;
    let listed = listed.unwrap();
    assert_eq!(listed.total, 1);
    listed.operations[0].id
}

/// Sends every offer at the same time, to several instances in turn.
async fn offer_all(
    scene: &Scene<'_>,
    offers: Vec<(Offer, Option<IdempotencyKey>)>,
) -> Vec<Result<OfferOutcome, ServiceError>> {
    let services = instances(scene);
    let now = scene.now;
    at_once(scene, offers.len(), |n| {
        let service = Arc::clone(&services[n % INSTANCES]);
        let (offer, key) = offers[n].clone();
        async move {
            service
                .offer(&offer, Actor::Company, key.as_ref(), now)
                .await
        }
    })
    .await
}

/// Sends every command at the same time, to several instances in turn.
async fn command_all(
    scene: &Scene<'_>,
    id: OperationId,
    commands: Vec<Command>,
) -> Vec<Result<CommandOutcome, ServiceError>> {
    let services = instances(scene);
    let now = scene.now;
    at_once(scene, commands.len(), |n| {
        let service = Arc::clone(&services[n % INSTANCES]);
        let command = commands[n].clone();
        async move {
            service
                .command(Viewer::Platform, id, &command, Actor::System, now)
                .await
        }
    })
    .await
}

fn instances(scene: &Scene<'_>) -> Vec<Arc<Operations>> {
    let instance = |_| Arc::new(scene.another_service());
    (0..INSTANCES).map(instance).collect()
}

/// Runs `count` tasks at the same time; returns their outcomes, in no order.
async fn at_once<T, F>(scene: &Scene<'_>, count: usize, make: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let task = |n| {
        let (outcomes, work) = (Arc::clone(&outcomes), make(n));
        let task: Task = Box::pin(async move {
            let outcome = work.await;
            let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            outcomes.push(outcome);
        });
        task
    };
    scene.host.join_all((0..count).map(task).collect()).await;
    let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *outcomes)
}
