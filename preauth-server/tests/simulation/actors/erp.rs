//! An ERP: offers, retries until it has an answer, and sometimes cancels.

use std::sync::Arc;

use preauth_core::operation::{Action, Actor, Command, Rejection};
use preauth_core::port::Viewer;
use preauth_core::service::{CommandOutcome, OfferOutcome, ServiceError};
use preauth_core::value::{IdempotencyKey, OperationId};
use preauth_server::clock::Clock;

use crate::clock::sleep_ms;
use crate::history::{CommandAnswer, Fact, OfferAnswer};
use crate::random::Random;
use crate::scene::{INVOICES, KEYS_PER_INVOICE, key};
use crate::world::Cluster;

use super::some_instance;

const OFFERS: u32 = 4;
const TRIES: u32 = 8;

/// Creates a few offers, one after the other.
pub(super) async fn calls(cluster: &Arc<Cluster>, mut random: Random) {
    for _ in 0..OFFERS {
        sleep_ms(random.below(6_000)).await;
        let invoice = usize::try_from(random.below(INVOICES)).unwrap();
        let key = random.chance(700).then(|| {
            // Sometimes a key that belongs to another invoice.
            let invoice = if random.chance(50) { 0 } else { invoice };
            key(invoice, random.below(KEYS_PER_INVOICE))
        });
        let Some(id) = retry_briefly(cluster, &mut random, invoice, key.clone()).await else {
            continue;
        };
        if random.chance(350) {
            sleep_ms(random.below(4_000)).await;
            cancel_for_sure(cluster, &mut random, id).await;
        }
        if key.is_some() && random.chance(400) {
            sleep_ms(random.below(9_000)).await;
            retry_briefly(cluster, &mut random, invoice, key).await;
        }
    }
}

/// Repeats an offer until there is an answer; returns the operation of a 201.
async fn retry_briefly(
    cluster: &Arc<Cluster>,
    random: &mut Random,
    invoice: usize,
    key: Option<IdempotencyKey>,
) -> Option<OperationId> {
    for _ in 0..TRIES {
        let instance = some_instance(random);
        let answer = offer(cluster, instance, invoice, key.clone()).await;
        if answer.is_definite() {
            return answer.body().map(created_id);
        }
        let longest = if random.chance(300) { 30 } else { 2_500 };
        sleep_ms(random.between(1, longest)).await;
    }
    None
}

async fn cancel_for_sure(cluster: &Arc<Cluster>, random: &mut Random, id: OperationId) {
    for _ in 0..TRIES {
        let answer = cancel(cluster, some_instance(random), id).await;
        let is_unclear = matches!(
            answer,
            CommandAnswer::NotDone | CommandAnswer::Unknown | CommandAnswer::Lost
        );
        if !is_unclear {
            return;
        }
        sleep_ms(random.between(1, 1_500)).await;
    }
}

/// One request for an offer, recorded with its answer.
pub(crate) async fn offer(
    cluster: &Arc<Cluster>,
    instance: usize,
    invoice: usize,
    key: Option<IdempotencyKey>,
) -> OfferAnswer {
    let offer = cluster.scene.offer(invoice);
    let sent_key = key.clone();
    let mut at = cluster.clock.now();
    let asked = cluster.ask(instance, |service, now| {
        at = now;
        async move {
            let key = sent_key.as_ref();
            service.offer(&offer, Actor::Company, key, now).await
        }
    });
    let answer = asked.await.map_or(OfferAnswer::Lost, answer_to_offer);
    cluster.chronicle.note(Fact::Offered {
        key,
        invoice,
        at,
        answer: answer.clone(),
    });
    answer
}

/// One request for a cancellation, recorded with its answer.
pub(crate) async fn cancel(
    cluster: &Arc<Cluster>,
    instance: usize,
    operation: OperationId,
) -> CommandAnswer {
    let viewer = Viewer::HeadOffice(cluster.scene.payer);
    command(cluster, instance, viewer, operation, Command::Cancel).await
}

/// One command, recorded with its answer.
pub(super) async fn command(
    cluster: &Arc<Cluster>,
    instance: usize,
    viewer: Viewer,
    operation: OperationId,
    command: Command,
) -> CommandAnswer {
    let action: Action = command.action();
    let mut at = cluster.clock.now();
    let asked = cluster.ask(instance, |service, now| {
        at = now;
        async move {
            service
                .command(viewer, operation, &command, Actor::Platform, now)
                .await
        }
    });
    let answer = match asked.await {
        Some(Ok(CommandOutcome { event: None, .. })) => CommandAnswer::Unchanged,
        answer => answer.map_or(CommandAnswer::Lost, answer_to_command),
    };
    cluster.chronicle.note(Fact::CommandOutcome {
        operation,
        action,
        at,
        answer: answer.clone(),
    });
    answer
}

/// The id of the operation in the body of a 201.
pub(crate) fn created_id(body: &str) -> OperationId {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    OperationId::parse(&body["id"].to_string()).unwrap()
}

pub(super) fn answer_to_offer(outcome: Result<OfferOutcome, ServiceError>) -> OfferAnswer {
    match outcome {
        Ok(OfferOutcome::Created { body, .. }) => OfferAnswer::Created(body),
        Ok(OfferOutcome::Replayed { body }) => OfferAnswer::Replayed(body),
        Err(ServiceError::Rejected(Rejection::DuplicateInvoice { existing })) => {
            OfferAnswer::Duplicate(existing)
        }
        Err(ServiceError::IdempotencyInProgress) => OfferAnswer::InProgress,
        Err(ServiceError::NotDone(_) | ServiceError::Busy(_)) => OfferAnswer::NotDone,
        Err(ServiceError::Unknown(_)) => OfferAnswer::Unknown,
        Err(refused) => OfferAnswer::Refused(refused.to_string()),
    }
}

pub(super) fn answer_to_command<T>(outcome: Result<T, ServiceError>) -> CommandAnswer {
    match outcome {
        Ok(_) => CommandAnswer::Done,
        Err(ServiceError::NotDone(_) | ServiceError::Busy(_)) => CommandAnswer::NotDone,
        Err(ServiceError::Unknown(_)) => CommandAnswer::Unknown,
        Err(refused) => CommandAnswer::Refused(refused.to_string()),
    }
}
