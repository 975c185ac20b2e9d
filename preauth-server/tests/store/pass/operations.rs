//! Creates and commands.

use chrono::{NaiveDate, TimeDelta};
use preauth_core::ReceivedInvoice;
use preauth_core::operation::{Actor, Command, DirectAdvance, Operation, ReprovedBy};
use preauth_core::payment_order::OrderCommand;
use preauth_core::port::{OrderTarget, Viewer};
use preauth_core::value::{CompanyId, CompanyKind, DueDate, ExternalReference};
use preauth_server::access::RateLimit;
use preauth_server::invoice_files::ContentHash;

use super::{Office, PAGE, STEP, audited, file, operator, reply};
use crate::store::deliveries::deliver;
use crate::store::fixture::{Fixture, cents};
use crate::store::handovers::Everything;
use crate::store::mails::command_done;

const LIMIT: RateLimit = RateLimit {
    requests: 1_000_000,
    window_seconds: 60,
};

/// The reads and writes of create requests: with a file, with a repeated invoice, with a delivery that is handed over, and to
/// a supplier who is known.
pub(super) async fn create(fixture: &Fixture, office: Office) -> Operation {
    let (stores, now) = (&fixture.stores, fixture.now);
    let entered = stores.access.authenticate(&office.hash, LIMIT, now).await;
    assert!(entered.unwrap().is_some());
    assert!(stores.access.find(&office.hash).await.unwrap().is_some());
    stores.files.named_bytes(office.payer).await.unwrap();
    let mut offer = fixture.new_offer(office.payer);
    let file = file(fixture);
    let announced = ContentHash::from_bytes(file.sha256);
    let announced = stores.files.announce_file(announced, now, now).await;
    assert!(announced.unwrap());
    offer.file = Some(file);
    offer.external_reference = Some(ExternalReference::parse("pedido 1").unwrap());
    fixture.service.validate(&offer, now).await.unwrap();
    let operation = fixture.make(&offer).await;
    let everything = Everything::default();
    let service = fixture.service_handing_over_to(everything.intake());
    let again = service.offer(&offer, Actor::Company, None, now).await;
    again.unwrap_err();
    let mut other = fixture.new_offer(office.payer);
    other.supplier = offer.supplier;
    let handed = service.offer(&other, Actor::Company, None, now).await;
    handed.unwrap();
    for leased in everything.leased() {
        deliver(fixture, &leased, now).await;
    }
    assert!(
        !stores
            .queries
            .history(operation.id)
            .await
            .unwrap()
            .is_empty()
    );
    operation
}

/// Every command.
pub(super) async fn live(fixture: &Fixture, payer: CompanyId) {
    let supplier = fixture.company(CompanyKind::Supplier);
    fixture.add(supplier.clone()).await;
    let advance = DirectAdvance {
        payer,
        supplier: supplier.cnpj,
        invoice: fixture.new_offer(payer).invoice,
        external_reference: None,
    };
    let reply = reply(fixture);
    let answer = |_: &Operation| reply.clone();
    let service = &fixture.service;
    let begun = service.advance_directly(&advance, Actor::Supplier, Some(&answer), fixture.now);
    begun.await.unwrap();
    let stored = fixture.stores.store.load_platform_reply(&reply.key).await;
    assert!(stored.unwrap().is_some());
    let directory = fixture.directory();
    let extension = async || {
        let id = directory.reserve_extension().await.unwrap();
        let create = Command::CreateExtension {
            id,
            new_due_date: DueDate::parse("2027-03-01").unwrap(),
            total_amount: cents(1_300_000),
        };
        (id, create)
    };
    let ((canceled, cancel), (concluded, conclude)) = (extension().await, extension().await);
    let id = fixture.offer(payer).await.id;
    let by = ReprovedBy::Platform;
    for command in [
        Command::Request,
        Command::Reprove { by, reason: None },
        Command::Reopen,
        Command::Approve,
        Command::Release {
            net_amount: cents(1_000_000),
        },
        Command::Pay,
        Command::ReturnPayout,
        Command::Pay,
        Command::Bill,
        cancel,
        Command::CancelExtension { id: canceled },
        conclude,
        Command::ConcludeExtension { id: concluded },
        Command::Conclude,
    ] {
        command_done(fixture, id, &command).await;
    }
    assert!(directory.extension(concluded).await.unwrap().is_some());
    assert_eq!(directory.extensions(id, PAGE).await.unwrap().total, 2);
    let events = fixture.stores.queries.history(id).await.unwrap();
    assert!(
        fixture
            .stores
            .store
            .has_event(events.first().unwrap().id)
            .await
            .unwrap()
    );
}

/// Orders with an operation and without one, an invoice and a test event.
pub(super) async fn order_and_invoice(fixture: &Fixture, office: Office) {
    let (payer, now) = (office.payer, fixture.now);
    let supplier = fixture.company(CompanyKind::Supplier);
    fixture.add(supplier.clone()).await;
    let service = fixture
        .service_handing_over_to(preauth_core::port::Intake::default())
        .in_hands_of(operator(fixture))
        .audited_as(audited("payment-orders".to_owned()));
    let mut offer = fixture.new_offer(payer);
    offer.supplier.cnpj = supplier.cnpj;
    let operation = fixture.make(&offer).await.id;
    let directory = fixture.directory();
    let mut last = None;
    for operation in [None, Some(operation)] {
        let target = OrderTarget {
            payer,
            supplier: supplier.cnpj,
            operation,
        };
        let day = NaiveDate::from_ymd_opt(2026, 12, 31);
        let created = service
            .create_order(&target, cents(77_777), day, None, now)
            .await;
        let id = created.unwrap().id;
        let cancel = OrderCommand::Cancel { reason: None };
        fixture
            .service
            .order_command(id, &cancel, now)
            .await
            .unwrap();
        assert!(directory.payment_order(id).await.unwrap().is_some());
        let loaded = fixture.stores.store.load_new_order(&target).await;
        last = loaded.unwrap();
    }
    let loaded = last.unwrap();
    let invoice = ReceivedInvoice {
        id: directory.reserve_invoice().await.unwrap(),
        payer: loaded.payer,
        supplier: loaded.supplier,
        amount: cents(123_456),
        due_date: offer.invoice.due_date,
        number: offer.invoice.number.unwrap(),
        received_at: now,
    };
    let subscriptions = &loaded.subscriptions;
    let received = fixture
        .service
        .receive_invoice(&invoice, subscriptions, Some(reply(fixture)));
    received.await.unwrap();
    assert!(directory.invoice(invoice.id).await.unwrap().is_some());
    let tested = fixture
        .service
        .send_test_event(subscriptions.first().unwrap(), None, now);
    tested.await.unwrap();
}

/// An offer is canceled by its company, and others fall due.
pub(super) async fn expire(fixture: &Fixture, payer: CompanyId) {
    let canceled = fixture.offer(payer).await.id;
    let cancel = (Viewer::HeadOffice(payer), Actor::Company);
    let done = fixture
        .service
        .command(cancel.0, canceled, &Command::Cancel, cancel.1, fixture.now);
    done.await.unwrap();
    fixture.offer(payer).await;
    let late = fixture.later(TimeDelta::days(31));
    let report = fixture.service.expire_overdue(late, STEP).await.unwrap();
    assert!(report.failed.is_empty(), "{:?}", report.failed);
}
