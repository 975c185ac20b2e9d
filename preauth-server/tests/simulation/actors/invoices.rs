//! The platform: receives invoices that suppliers issued.

use std::sync::Arc;

use preauth_core::ReceivedInvoice;
use preauth_core::port::OrderTarget;
use preauth_core::value::{DueDate, InvoiceId, InvoiceNumber, Money, calendar};
use preauth_server::clock::Clock;

use crate::clock::{sleep_ms, start};
use crate::history::{CommandAnswer, Fact};
use crate::random::Random;
use crate::world::Cluster;

use super::erp::answer_to_command;
use super::some_instance;

const INVOICES: u32 = 3;

/// Receives a few invoices.
pub(super) async fn arrive(cluster: &Arc<Cluster>, mut random: Random) {
    for _ in 0..INVOICES {
        sleep_ms(random.below(9_000)).await;
        receive(cluster, &mut random).await;
    }
}

async fn receive(cluster: &Arc<Cluster>, random: &mut Random) {
    let target = OrderTarget {
        payer: cluster.scene.payer,
        supplier: cluster.scene.supplier,
        operation: None,
    };
    // An order's parties and number are suitable for an invoice, too.
    let store = cluster.database.ground().store;
    let loaded = store.load_new_order(&target).await.unwrap().unwrap();
    let invoice = |received_at| ReceivedInvoice {
        id: InvoiceId::new(loaded.order.get()).unwrap(),
        payer: loaded.payer,
        supplier: loaded.supplier,
        amount: Money::from_cents(123_456).unwrap(),
        due_date: DueDate::from_date(calendar::today(start())).unwrap(),
        number: InvoiceNumber::parse(&format!("NF-{}", loaded.order)).unwrap(),
        received_at,
    };
    let subscriptions = loaded.subscriptions;
    let mut at = cluster.clock.now();
    let asked = cluster.ask(some_instance(random), |service, now| {
        at = now;
        let invoice = invoice(now);
        async move {
            service
                .receive_invoice(&invoice, &subscriptions, None)
                .await
        }
    });
    let answer = asked.await.map_or(CommandAnswer::Lost, answer_to_command);
    cluster.chronicle.note(Fact::Invoiced { at, answer });
}
