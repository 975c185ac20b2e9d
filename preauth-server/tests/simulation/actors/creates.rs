//! Creates of the platform: direct advances and payment orders, with or without an idempotency key.

use std::sync::Arc;

use preauth_core::operation::{Actor, Operation};
use preauth_core::payment_order::{OrderAction, PaymentOrder};
use preauth_core::port::{NewReply, OrderTarget, Render};
use preauth_core::service::{OfferOutcome, Once, Operations, ServiceError};
use preauth_core::value::{
    FingerprintBuilder, IdempotencyKey, Money, OperationId, PaymentOrderId, Timestamp,
};
use preauth_server::clock::Clock;
use preauth_server::http::WireRender;

use crate::clock::sleep_ms;
use crate::history::{CommandAnswer, Fact, OfferAnswer};
use crate::random::Random;
use crate::scene::Scene;
use crate::world::Cluster;

use super::some_instance;

const TRIES: u32 = 6;

/// A create of the platform; equal values are the same request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Creation {
    /// A direct advance for one of the few invoices, or without an invoice number.
    Advance { invoice: Option<usize>, number: u64 },
    /// A payment order, with or without an operation.
    Order {
        operation: Option<OperationId>,
        number: u64,
    },
}

impl Creation {
    /// The idempotency key, if the request has one.
    pub(crate) fn key(&self) -> IdempotencyKey {
        let text = match self {
            Self::Advance { invoice, number } => format!("advance-{}-{number}", named(*invoice)),
            Self::Order { operation, number } => {
                format!("order-{}-{number}", named(operation.map(OperationId::get)))
            }
        };
        IdempotencyKey::parse(&text).unwrap()
    }
}

fn named(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "none".to_owned(), |number| number.to_string())
}

/// Repeats it under its key until there is an answer.
pub(super) async fn retry_briefly(cluster: &Arc<Cluster>, mut random: Random, creation: Creation) {
    for _ in 0..TRIES {
        let instance = some_instance(&mut random);
        if create(cluster, instance, &creation, true)
            .await
            .is_definite()
        {
            return;
        }
        let longest = if random.chance(300) { 30 } else { 2_500 };
        sleep_ms(random.between(1, longest)).await;
    }
}

/// One request, recorded with its answer.
pub(crate) async fn create(
    cluster: &Arc<Cluster>,
    instance: usize,
    creation: &Creation,
    is_keyed: bool,
) -> OfferAnswer {
    let (scene, wanted) = (cluster.scene.clone(), creation.clone());
    let mut at = cluster.clock.now();
    let asked = cluster.ask(instance, |service, now| {
        at = now;
        async move { carry_out(&service, &scene, &wanted, is_keyed, now).await }
    });
    let answer = asked.await.map_or(OfferAnswer::Lost, answer_to_once);
    cluster.chronicle.note(match creation {
        Creation::Advance { invoice, .. } => Fact::Advanced {
            invoice: *invoice,
            at,
            answer: answer.clone(),
        },
        Creation::Order { .. } => Fact::Ordered {
            order: None,
            action: OrderAction::Create,
            at,
            answer: as_of_a_command(&answer),
        },
    });
    if is_keyed {
        cluster.chronicle.note(Fact::Keyed {
            creation: creation.clone(),
            answer: answer.clone(),
        });
    }
    answer
}

async fn carry_out(
    service: &Operations,
    scene: &Scene,
    wanted: &Creation,
    is_keyed: bool,
    now: Timestamp,
) -> Result<Once<String>, ServiceError> {
    let text = wanted.key();
    let mut parts = FingerprintBuilder::new(1);
    parts.part(Some(text.as_str()));
    let key = service.platform_key(text, parts.finish());
    let reply = |body| key.reply(body);
    let reply: Option<&(dyn Fn(String) -> NewReply + Sync)> =
        if is_keyed { Some(&reply) } else { None };
    let creation = async {
        match wanted {
            Creation::Advance { invoice, .. } => {
                advance(service, scene, *invoice, reply, now).await
            }
            Creation::Order { operation, number } => {
                order(service, scene, (*operation, *number), reply, now).await
            }
        }
    };
    if is_keyed {
        service.once(&key, now, creation).await
    } else {
        creation.await.map(Once::Created)
    }
}

async fn advance(
    service: &Operations,
    scene: &Scene,
    invoice: Option<usize>,
    reply: Option<&(dyn Fn(String) -> NewReply + Sync)>,
    now: Timestamp,
) -> Result<String, ServiceError> {
    let of = reply.map(|reply| move |made: &Operation| reply(WireRender.reply(made)));
    let of = of
        .as_ref()
        .map(|of| of as &(dyn Fn(&Operation) -> NewReply + Sync));
    let advance = scene.advance(invoice);
    let made = service.advance_directly(&advance, Actor::Supplier, of, now);
    match made.await? {
        OfferOutcome::Created { operation, .. } => Ok(WireRender.reply(&operation)),
        OfferOutcome::Replayed { .. } => unreachable!("a direct advance is no replay of its own"),
    }
}

async fn order(
    service: &Operations,
    scene: &Scene,
    (operation, number): (Option<OperationId>, u64),
    reply: Option<&(dyn Fn(String) -> NewReply + Sync)>,
    now: Timestamp,
) -> Result<String, ServiceError> {
    let of = reply.map(|reply| move |made: &PaymentOrder| reply(body(made.id)));
    let of = of
        .as_ref()
        .map(|of| of as &(dyn Fn(&PaymentOrder) -> NewReply + Sync));
    let target = OrderTarget {
        payer: scene.payer,
        supplier: scene.supplier,
        operation,
    };
    let amount = Money::from_cents(i64::try_from(number).unwrap() * 1_009 + 1).unwrap();
    let made = service.create_order(&target, amount, None, of, now).await?;
    Ok(body(made.id))
}

/// The part of a payment order that an answer shows.
fn body(id: PaymentOrderId) -> String {
    format!(r#"{{"id":{id}}}"#)
}

fn answer_to_once(outcome: Result<Once<String>, ServiceError>) -> OfferAnswer {
    match outcome {
        Ok(Once::Created(body)) => OfferAnswer::Created(body),
        Ok(Once::Replayed { body }) => OfferAnswer::Replayed(body),
        Err(refused) => super::erp::answer_to_offer(Err(refused)),
    }
}

/// The same answer, for a request that is identified by its effect alone. A replay may repeat the
/// answer of a request whose own answer was lost.
fn as_of_a_command(answer: &OfferAnswer) -> CommandAnswer {
    match answer {
        OfferAnswer::Created(_) => CommandAnswer::Done,
        OfferAnswer::Replayed(_) | OfferAnswer::Unknown => CommandAnswer::Unknown,
        OfferAnswer::Lost => CommandAnswer::Lost,
        OfferAnswer::NotDone => CommandAnswer::NotDone,
        OfferAnswer::Duplicate(_) | OfferAnswer::InProgress => {
            CommandAnswer::Refused(answer.to_string())
        }
        OfferAnswer::Refused(why) => CommandAnswer::Refused(why.clone()),
    }
}
