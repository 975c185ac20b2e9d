//! What both APIs read about one company and one of its operations; the tests of each database look at the
//! plans.

use preauth_core::operation::Operation;
use preauth_core::port::{Filter, PageRequest, Viewer};
use preauth_core::value::{CompanyId, EventType, ExternalReference, Status};
use preauth_server::directory::{
    DeliveryFilter, DeliveryStatus, DeliveryWait, MailFilter, MailStatus, PaymentOrderFilter,
};

use crate::store::feed::{everything, page as events};
use crate::store::fixture::Fixture;

/// A page as the APIs read it by default.
const PAGE: PageRequest = PageRequest { page: 1, limit: 20 };

/// Reads everything once. The operation is the payer's, and has a mail and a delivery.
pub(crate) async fn read_once(fixture: &Fixture, payer: CompanyId, operation: &Operation) {
    operations(fixture, payer, operation).await;
    records(fixture, payer, operation).await;
    deliveries(fixture, payer, operation).await;
    mails(fixture, payer, operation).await;
    events(fixture, &everything(payer)).await;
}

async fn operations(fixture: &Fixture, payer: CompanyId, operation: &Operation) {
    let queries = &fixture.stores.queries;
    let any = Filter::default();
    let filters = [
        any.clone(),
        Filter {
            statuses: vec![Status::InPreAuth],
            ..any.clone()
        },
        Filter {
            statuses: vec![Status::InPreAuth, Status::Reproved],
            ..any.clone()
        },
        Filter {
            statuses: vec![Status::ToPay],
            ..any.clone()
        },
        Filter {
            external_reference: ExternalReference::parse("pedido 1").ok(),
            ..any
        },
    ];
    for viewer in [Viewer::HeadOffice(payer), Viewer::Branch(payer)] {
        let found = queries.find(viewer, operation.id).await;
        assert!(found.unwrap().is_some());
        for filter in &filters {
            queries.list(viewer, filter, PAGE).await.unwrap();
        }
    }
    assert!(!queries.history(operation.id).await.unwrap().is_empty());
}

async fn records(fixture: &Fixture, payer: CompanyId, operation: &Operation) {
    let directory = fixture.directory();
    let supplier = operation.supplier.company;
    assert!(directory.company(payer).await.unwrap().is_some());
    let by_cnpj = directory.company_by_cnpj(&operation.supplier.cnpj).await;
    assert!(by_cnpj.unwrap().is_some());
    directory.branches(payer, PAGE).await.unwrap();
    directory.invitations(supplier, PAGE).await.unwrap();
    directory.invitation(supplier, payer).await.unwrap();
    assert!(directory.credit(payer).await.unwrap().is_some());
    directory.blocked_suppliers(payer).await.unwrap();
    assert!(directory.endpoint(payer).await.unwrap().is_some());
    for user in directory.users(payer, PAGE).await.unwrap().items {
        assert!(directory.user(user.id).await.unwrap().is_some());
    }
    for key in directory.api_keys(payer, PAGE).await.unwrap().items {
        assert!(directory.api_key(key.id).await.unwrap().is_some());
    }
    directory.extensions(operation.id, PAGE).await.unwrap();
    directory.invoice_file(operation.id).await.unwrap();
    let of_operation = PaymentOrderFilter {
        operation: Some(operation.id),
        ..PaymentOrderFilter::default()
    };
    directory.payment_orders(of_operation, PAGE).await.unwrap();
    assert!(directory.addressee(operation.id).await.unwrap().is_some());
}

async fn deliveries(fixture: &Fixture, payer: CompanyId, operation: &Operation) {
    let directory = fixture.directory();
    let any = DeliveryFilter::default();
    let filters = [
        any,
        DeliveryFilter {
            status: Some(DeliveryStatus::Pending),
            ..any
        },
        DeliveryFilter {
            event_type: Some(EventType::PreAuthorizationCreated),
            ..any
        },
        DeliveryFilter {
            wait: Some(DeliveryWait::AfterFailure),
            ..any
        },
        DeliveryFilter {
            operation: Some(operation.id),
            ..any
        },
    ];
    let mut last = Vec::new();
    for filter in filters {
        let found = directory.deliveries(Some(payer), filter, PAGE, fixture.now);
        last = found.await.unwrap().items;
    }
    let one = last.first().unwrap();
    assert!(directory.delivery(one.id).await.unwrap().is_some());
}

async fn mails(fixture: &Fixture, payer: CompanyId, operation: &Operation) {
    let directory = fixture.directory();
    let any = MailFilter::default();
    let filters = [
        any,
        MailFilter {
            status: Some(MailStatus::Pending),
            ..any
        },
        MailFilter {
            operation: Some(operation.id),
            ..any
        },
    ];
    let mut last = Vec::new();
    for filter in filters {
        let found = directory.mails(Some(payer), filter, PAGE).await;
        last = found.unwrap().items;
    }
    let one = last.first().unwrap();
    assert!(directory.mail(one.id).await.unwrap().is_some());
}
