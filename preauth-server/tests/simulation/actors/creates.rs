//! Creates of the platform, with or without an idempotency key.

use std::fmt::Display;
use std::sync::Arc;

use preauth_core::operation::{Actor, Operation};
use preauth_core::payment_order::{OrderAction, PaymentOrder};
use preauth_core::port::{IdSource, NewReply, OrderTarget, Render};
use preauth_core::service::{Announced, OfferOutcome, Once, Operations, ReplyOf, ServiceError};
use preauth_core::value::{
    FingerprintBuilder, IdempotencyKey, Money, OperationId, PaymentOrderId, Timestamp,
};
use preauth_server::clock::Clock;
use preauth_server::directory::{self, DirectoryError, RegistrationError};
use preauth_server::http::WireRender;
use uuid::Uuid;

use crate::clock::sleep_ms;
use crate::ground::{NewRecord, Record};
use crate::history::{CommandAnswer, Deed, Fact, OfferAnswer};
use crate::random::Random;
use crate::scene::Scene;
use crate::store::SimStore;
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
    /// A test event to one of the endpoints.
    TestEvent { endpoint: usize, number: u64 },
    /// One of a few companies.
    Company { number: u64 },
    /// A key of the payer.
    ApiKey { number: u64 },
}

impl Creation {
    /// The idempotency key, if the request has one.
    pub(crate) fn key(&self) -> IdempotencyKey {
        let text = match self {
            Self::Advance { invoice, number } => format!("advance-{}-{number}", named(*invoice)),
            Self::Order { operation, number } => {
                format!("order-{}-{number}", named(operation.map(OperationId::get)))
            }
            Self::TestEvent { endpoint, number } => format!("test-{endpoint}-{number}"),
            Self::Company { number } => format!("company-{number}"),
            Self::ApiKey { number } => format!("api-key-{number}"),
        };
        IdempotencyKey::parse(&text).unwrap()
    }

    /// The fact that a caller has its answer.
    fn answered(&self, at: Timestamp, answer: &OfferAnswer) -> Fact {
        let made = |deed| Fact::Made {
            deed,
            at,
            answer: as_of_a_command(answer),
        };
        match self {
            Self::Advance { invoice, .. } => Fact::Advanced {
                invoice: *invoice,
                at,
                answer: answer.clone(),
            },
            Self::Order { .. } => Fact::Ordered {
                order: None,
                action: OrderAction::Create,
                at,
                answer: as_of_a_command(answer),
            },
            Self::TestEvent { .. } => made(Deed::TestEvent),
            Self::Company { .. } => made(Deed::Company),
            Self::ApiKey { .. } => made(Deed::ApiKey),
        }
    }
}

/// The server as a create reaches it.
struct Reached {
    service: Arc<Operations>,
    directory: SimStore,
    scene: Scene,
    /// For a record of the directory.
    id: Uuid,
}

/// Why nothing was created, or nobody knows.
enum Failure {
    Service(ServiceError),
    Refused(String),
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self::Service(error)
    }
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::NotFound | DirectoryError::Conflict => Self::Refused(error.to_string()),
            DirectoryError::InProgress => Self::Service(ServiceError::IdempotencyInProgress),
            DirectoryError::Unavailable(error) => Self::Service(error.into()),
            DirectoryError::Unknown(cause) => Self::Service(ServiceError::Unknown(cause)),
        }
    }
}

impl From<RegistrationError> for Failure {
    fn from(error: RegistrationError) -> Self {
        match error {
            RegistrationError::Directory(error) => error.into(),
            refused => Self::Refused(refused.to_string()),
        }
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
    let directory = SimStore::new(Arc::clone(&cluster.database), instance, Arc::default());
    let id = cluster.ids.uuid(at);
    let asked = cluster.ask(instance, |service, now| {
        at = now;
        let reached = Reached {
            service,
            directory,
            scene,
            id,
        };
        async move { carry_out(&reached, &wanted, is_keyed, now).await }
    });
    let answer = asked.await.map_or(OfferAnswer::Lost, answer_to_once);
    cluster.chronicle.note(creation.answered(at, &answer));
    if is_keyed {
        cluster.chronicle.note(Fact::Keyed {
            creation: creation.clone(),
            answer: answer.clone(),
        });
    }
    answer
}

async fn carry_out(
    reached: &Reached,
    wanted: &Creation,
    is_keyed: bool,
    now: Timestamp,
) -> Result<Once<String>, Failure> {
    let Reached { service, scene, .. } = reached;
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
                Ok(advance(service, scene, *invoice, reply, now).await?)
            }
            Creation::Order { operation, number } => {
                Ok(order(service, scene, (*operation, *number), reply, now).await?)
            }
            Creation::TestEvent { endpoint, .. } => {
                Ok(test_event(service, scene, *endpoint, reply, now).await?)
            }
            Creation::Company { number } => register(reached, *number, reply, now).await,
            Creation::ApiKey { .. } => add_key(reached, reply, now).await,
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

async fn test_event(
    service: &Operations,
    scene: &Scene,
    endpoint: usize,
    reply: Option<&(dyn Fn(String) -> NewReply + Sync)>,
    now: Timestamp,
) -> Result<String, ServiceError> {
    let of = reply.map(|reply| move |made: &Announced| reply(uuid_body(made.event.id)));
    let of = of.as_ref().map(|of| of as &ReplyOf<'_, Announced>);
    let to = scene.subscribers[endpoint].subscription();
    let made = service.send_test_event(&to, of, now).await?;
    Ok(uuid_body(made.event.id))
}

async fn register(
    reached: &Reached,
    number: u64,
    reply: Option<&(dyn Fn(String) -> NewReply + Sync)>,
    now: Timestamp,
) -> Result<String, Failure> {
    let company = Scene::company(reached.id, number, now);
    let reply = |made: &directory::Company| reply.map(|reply| reply(uuid_body(made.id)));
    let made = directory::register(&reached.directory, company, &reply).await?;
    Ok(uuid_body(made.id))
}

async fn add_key(
    reached: &Reached,
    reply: Option<&(dyn Fn(String) -> NewReply + Sync)>,
    now: Timestamp,
) -> Result<String, Failure> {
    let (key, hash) = reached.scene.api_key(reached.id, now);
    let body = uuid_body(key.id);
    let new = NewRecord {
        record: Record::ApiKey(key, hash),
        reply: reply.map(|reply| reply(body.clone())),
    };
    reached.directory.register(new).await?;
    Ok(body)
}

/// The part of a payment order that an answer shows.
fn body(id: PaymentOrderId) -> String {
    format!(r#"{{"id":{id}}}"#)
}

/// The part that an answer shows of a record whose id is a UUID.
fn uuid_body(id: impl Display) -> String {
    format!(r#"{{"id":"{id}"}}"#)
}

/// The id in the body of a 201.
pub(crate) fn shown_id(body: &str) -> String {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    match &body["id"] {
        serde_json::Value::String(id) => id.clone(),
        id => id.to_string(),
    }
}

fn answer_to_once(outcome: Result<Once<String>, Failure>) -> OfferAnswer {
    match outcome {
        Ok(Once::Created(body)) => OfferAnswer::Created(body),
        Ok(Once::Replayed { body }) => OfferAnswer::Replayed(body),
        Err(Failure::Service(error)) => super::erp::answer_to_offer(Err(error)),
        Err(Failure::Refused(why)) => OfferAnswer::Refused(why),
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
