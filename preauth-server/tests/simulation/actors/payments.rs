//! Who pays suppliers: generates payment orders and moves them on, now and then two at once.

use std::sync::Arc;

use futures_util::future::join;
use preauth_core::payment_order::{OrderAction, OrderCommand, PaymentOrder};
use preauth_core::port::OrderTarget;
use preauth_core::service::ServiceError;
use preauth_core::value::{Money, PaymentOrderId, Timestamp, calendar};
use preauth_server::clock::Clock;

use crate::clock::{sleep_ms, start};
use crate::history::{CommandAnswer, Fact};
use crate::random::Random;
use crate::world::Cluster;

use super::erp::answer_to_command;
use super::some_instance;

const DEEDS: u32 = 6;

/// Generates some orders and moves them on.
pub(super) async fn pays(cluster: &Arc<Cluster>, mut random: Random) {
    for _ in 0..DEEDS {
        sleep_ms(random.below(5_000)).await;
        match some_order(cluster, &mut random) {
            Some(order) if random.chance(800) => {
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

async fn generate(cluster: &Arc<Cluster>, random: &mut Random) {
    let target = OrderTarget {
        payer: cluster.scene.payer,
        supplier: cluster.scene.supplier,
        operation: None,
    };
    let cents = i64::try_from(random.between(1, 90_000_000)).unwrap();
    let amount = Money::from_cents(cents).unwrap();
    let mut at = cluster.clock.now();
    let asked = cluster.ask(some_instance(random), |service, now| {
        at = now;
        async move { service.create_order(&target, amount, None, None, now).await }
    });
    let asked = asked.await;
    note(cluster, None, OrderAction::Create, at, asked);
}

async fn act(cluster: &Arc<Cluster>, order: PaymentOrderId, mut random: Random) {
    let on = random.chance(500).then(|| calendar::today(start()));
    let (action, command) = match random.below(6) {
        0 => (OrderAction::Review, OrderCommand::Review),
        1 | 2 => (OrderAction::Schedule, OrderCommand::Schedule { on }),
        3 | 4 => (OrderAction::Pay, OrderCommand::Pay),
        _ => (OrderAction::Cancel, OrderCommand::Cancel { reason: None }),
    };
    let mut at = cluster.clock.now();
    let asked = cluster.ask(some_instance(&mut random), |service, now| {
        at = now;
        async move { service.order_command(order, &command, now).await }
    });
    let asked = asked.await;
    note(cluster, Some(order), action, at, asked);
}

fn note(
    cluster: &Arc<Cluster>,
    order: Option<PaymentOrderId>,
    action: OrderAction,
    at: Timestamp,
    asked: Option<Result<PaymentOrder, ServiceError>>,
) {
    let answer = asked.map_or(CommandAnswer::Lost, answer_to_command);
    cluster.chronicle.note(Fact::Ordered {
        order,
        action,
        at,
        answer,
    });
}

/// One of the orders that were committed so far.
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
