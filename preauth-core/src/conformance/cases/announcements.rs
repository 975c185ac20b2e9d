//! Events without a change of an aggregate: an invoice was received, an endpoint is tested.

use crate::ReceivedInvoice;
use crate::conformance::scene::{Scene, cents};
use crate::conformance::{Host, draft};
use crate::port::{Commit, CommitError, OrderTarget, Subscription, Write};
use crate::value::{CompanyId, DueDate, EventType, InvoiceId, InvoiceNumber};

/// An invoice is stored with its event, which is delivered to the payer's endpoint.
pub async fn a_received_invoice_is_delivered_to_its_payer(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    let (commit, _) = receipt(&scene, scene.payer).await;
    let event = commit.event.id;
    host.store().commit(commit).await.unwrap();
    let deliveries = host.deliveries(event).await;
    assert_eq!(deliveries.len(), 1);
    assert_eq!(deliveries[0].endpoint, endpoint);
    assert_eq!(deliveries[0].due_at, scene.now);
}

/// A second invoice with the same id conflicts, and no event is recorded for it.
pub async fn an_invoice_is_received_once(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let (commit, subscriptions) = receipt(&scene, scene.payer).await;
    let mut again = draft::bare(
        &scene,
        commit.write.clone(),
        EventType::InvoiceReceived,
        scene.now,
    );
    again.deliveries = draft::deliveries(&scene, &subscriptions);
    let lost = again.event.id;
    host.store().commit(commit).await.unwrap();
    let refused = host.store().commit(again).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert!(host.deliveries(lost).await.is_empty());
}

/// A test event is delivered like any other, however often one is sent.
pub async fn a_test_is_an_event_and_nothing_else(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    let (_, subscriptions) = receipt(&scene, scene.payer).await;
    for _ in 0..2 {
        let write = Write::EventOnly {
            head_office: scene.payer,
        };
        let mut commit = draft::bare(&scene, write, EventType::WebhookTest, scene.now);
        commit.deliveries = draft::deliveries(&scene, &subscriptions);
        let event = commit.event.id;
        host.store().commit(commit).await.unwrap();
        let deliveries = host.deliveries(event).await;
        assert_eq!(deliveries.len(), 1);
        assert_eq!(deliveries[0].endpoint, endpoint);
    }
}

/// A second commit of the same event conflicts, and a look-up finds the first.
pub async fn an_event_is_recorded_once(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let write = Write::EventOnly {
        head_office: scene.payer,
    };
    let commit = draft::bare(&scene, write, EventType::WebhookTest, scene.now);
    let (store, event) = (host.store(), commit.event.id);
    assert!(!store.has_event(event).await.unwrap());
    store.commit(commit.clone()).await.unwrap();
    assert!(store.has_event(event).await.unwrap());
    let refused = store.commit(commit).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
}

/// The commit of a received invoice, with a delivery for every subscription of its payer.
pub(super) async fn receipt(scene: &Scene<'_>, payer: CompanyId) -> (Commit, Vec<Subscription>) {
    let target = OrderTarget {
        payer,
        supplier: scene.supplier.cnpj,
        operation: None,
    };
    let loaded = scene.host.store().load_new_order(&target).await;
    let loaded = loaded.unwrap().unwrap();
    let invoice = ReceivedInvoice {
        // An order's number also works: it only has to be unused.
        id: InvoiceId::new(loaded.order.get()).unwrap(),
        payer: loaded.payer,
        supplier: loaded.supplier,
        amount: cents(123_456),
        due_date: DueDate::parse("2026-12-21").unwrap(),
        number: InvoiceNumber::parse("NF 'ção' 漢").unwrap(),
        received_at: scene.now,
    };
    let named = invoice.id.get();
    let write = Write::NewInvoice(Box::new(invoice));
    let mut commit = draft::bare(scene, write, EventType::InvoiceReceived, scene.now);
    // Nothing but its body names the record of such an event, in the contract's form.
    commit.event.body = format!(r#"{{"data":{{"invoiceId":{named}}}}}"#);
    commit.deliveries = draft::deliveries(scene, &loaded.subscriptions);
    (commit, loaded.subscriptions)
}
