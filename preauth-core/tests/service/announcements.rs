//! Received invoices over a host that fails.

use preauth_core::ReceivedInvoice;
use preauth_core::port::{OrderTarget, Store};
use preauth_core::service::{Announced, ServiceError};
use preauth_core::value::{DueDate, InvoiceId, InvoiceNumber, Money};

use crate::faulty::Fault;
use crate::given::{Given, given, payer, supplier};

async fn receive(given: &Given) -> Result<Announced, ServiceError> {
    let target = OrderTarget {
        payer: payer(),
        supplier: supplier(),
        operation: None,
    };
    let loaded = given.faulty.inner.load_new_order(&target).await.unwrap();
    let parties = loaded.unwrap();
    let invoice = ReceivedInvoice {
        id: invoice_id(),
        payer: parties.payer,
        supplier: parties.supplier,
        amount: Money::from_cents(123_456).unwrap(),
        due_date: DueDate::parse("2026-12-21").unwrap(),
        number: InvoiceNumber::parse("NF-1").unwrap(),
        received_at: given.now,
    };
    given.service.receive_invoice(&invoice, &[], None).await
}

fn invoice_id() -> InvoiceId {
    InvoiceId::new(1).unwrap()
}

#[tokio::test]
async fn an_invoice_whose_answer_was_lost_is_received_once() {
    for fault in [
        Fault::UnknownApplied,
        Fault::UnknownNotApplied,
        Fault::UnknownAppliedLate,
        Fault::UnknownAppliedBeforeNext,
        Fault::UnknownAppliedAfterNext,
        Fault::NotDone,
    ] {
        let given = given();
        given.faulty.fail(&[fault]);
        let received = receive(&given).await;
        assert!(received.is_ok(), "{fault:?}: {received:?}");
        assert!(given.faulty.inner.received_invoice(invoice_id()).is_some());
    }
}

#[tokio::test]
async fn no_later_failure_ends_what_is_unsettled() {
    let given = given();
    given.faulty.fail(&[Fault::UnknownNotApplied]);
    given.faulty.storm(Fault::NotDone);
    let failed = receive(&given).await;
    assert!(
        matches!(failed, Err(ServiceError::Unknown(_))),
        "{failed:?}"
    );
}
