//! The platform: receives invoices that suppliers issued.

use std::sync::Arc;

use preauth_core::ReceivedInvoice;
use preauth_core::operation::Party;
use preauth_core::port::{OrderTarget, Write};
use preauth_core::value::{DueDate, EventId, EventType, InvoiceId, InvoiceNumber, Money, calendar};
use preauth_core::wire::{self, EventEnvelope, EventInvoice, InvoiceReceivedData, Open};
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
            let write = Write::NewInvoice(Box::new(invoice.clone()));
            let (event, render) = (EventType::InvoiceReceived, |id| body(id, &invoice));
            service
                .announce(write, event, render, &subscriptions, None, now)
                .await
        }
    });
    let answer = asked.await.map_or(CommandAnswer::Lost, answer_to_command);
    cluster.chronicle.note(Fact::Invoiced { at, answer });
}

fn body(id: EventId, invoice: &ReceivedInvoice) -> String {
    let named = |party: &Party| (party.cnpj, party.name.to_string());
    let (payer, supplier) = (named(&invoice.payer), named(&invoice.supplier));
    let envelope = EventEnvelope {
        id,
        event_type: Open::Known(EventType::InvoiceReceived),
        created_at: invoice.received_at,
        data: InvoiceReceivedData {
            invoice_id: invoice.id,
            invoice: EventInvoice {
                amount: invoice.amount.into(),
                due_date: invoice.due_date,
                number: Some(invoice.number.to_string()),
            },
            payer: wire::Party {
                cnpj: payer.0,
                name: payer.1,
            },
            supplier: wire::SupplierParty {
                cnpj: supplier.0,
                name: Some(supplier.1),
            },
        },
    };
    serde_json::to_string(&envelope).unwrap()
}
