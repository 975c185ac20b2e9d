//! The platform's payments: generates payment orders and advances them, sometimes two concurrently.

use std::sync::Arc;

use futures_util::future::join;
use preauth_core::payment_order::{OrderAction, OrderCommand};
use preauth_core::value::{OperationId, PaymentOrderId, calendar};
use preauth_server::clock::Clock;

use crate::clock::{sleep_ms, start};
use crate::history::{CommandAnswer, Fact};
use crate::random::Random;
use crate::world::Cluster;

use super::creates::{Creation, create, retry_briefly};
use super::erp::answer_to_command;
use super::some_instance;

const DEEDS: u32 = 8;

/// Generates some orders and advances them.
pub(super) async fn pays(cluster: &Arc<Cluster>, mut random: Random) {
    for _ in 0..DEEDS {
        sleep_ms(random.below(5_000)).await;
        match some_order(cluster, &mut random) {
            Some(order) if random.chance(600) => {
                let one = act(cluster, order, random.fork());
                let other = act(cluster, order, random.fork());
                if random.chance(500) {
                    join(one, other).await;
                } else {
                    one.await;
                }
            }
            _ => generate(cluster, &mut random).await,
        }
    }
}

/// Generates an order, mostly with an operation, sometimes two concurrently.
async fn generate(cluster: &Arc<Cluster>, random: &mut Random) {
    let operation = some_operation(cluster, random).filter(|_| random.chance(700));
    let wanted = |random: &mut Random| Creation::Order {
        operation,
        number: random.below(3),
    };
    let (one, other) = (wanted(random), wanted(random));
    let one = generate_one(cluster, random.fork(), one);
    let other = generate_one(cluster, random.fork(), other);
    if random.chance(400) {
        join(one, other).await;
    } else {
        one.await;
    }
}

async fn generate_one(cluster: &Arc<Cluster>, mut random: Random, wanted: Creation) {
    if random.chance(600) {
        retry_briefly(cluster, random, wanted).await;
    } else {
        create(cluster, some_instance(&mut random), &wanted, false).await;
    }
}

async fn act(cluster: &Arc<Cluster>, order: PaymentOrderId, mut random: Random) {
    let on = random.chance(500).then(|| calendar::today(start()));
    let (action, command) = match random.below(9) {
        0 | 1 => (OrderAction::Review, OrderCommand::Review),
        2 | 3 => (OrderAction::Schedule, OrderCommand::Schedule { on }),
        4 | 5 => (OrderAction::Pay, OrderCommand::Pay),
        6 => (OrderAction::Cancel, OrderCommand::Cancel { reason: None }),
        _ => (OrderAction::Reprove, OrderCommand::Reprove { reason: None }),
    };
    let mut at = cluster.clock.now();
    let asked = cluster.ask(some_instance(&mut random), |service, now| {
        at = now;
        async move { service.order_command(order, &command, now).await }
    });
    let asked = asked.await;
    let answer = asked.map_or(CommandAnswer::Lost, answer_to_command);
    cluster.chronicle.note(Fact::Ordered {
        order: Some(order),
        action,
        at,
        answer,
    });
}

/// One of the orders committed so far.
fn some_order(cluster: &Cluster, random: &mut Random) -> Option<PaymentOrderId> {
    let orders: Vec<_> = cluster.chronicle.read(|entries| {
        let commits = entries.iter().filter_map(|entry| match &entry.fact {
            Fact::CommittedOrder(recorded) => Some(recorded.order.id),
            _ => None,
        });
        commits.collect()
    });
    (!orders.is_empty()).then(|| random.pick(&orders))
}

/// One of the operations committed so far.
fn some_operation(cluster: &Cluster, random: &mut Random) -> Option<OperationId> {
    let operations: Vec<_> = cluster.chronicle.read(|entries| {
        let commits = entries.iter().filter_map(|entry| match &entry.fact {
            Fact::Committed(recorded) => Some(recorded.operation.id),
            _ => None,
        });
        commits.collect()
    });
    (!operations.is_empty()).then(|| random.pick(&operations))
}
