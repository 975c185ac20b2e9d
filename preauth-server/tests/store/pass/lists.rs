//! Lists, with each filter.

use preauth_core::operation::Operation;
use preauth_core::port::{Filter, MailKind, PageRequest, Viewer};
use preauth_core::value::{CompanyId, EventType, ExternalReference, Status};
use preauth_server::directory::{
    DeliveryFilter, DeliveryStatus, DeliveryWait, MailFilter, MailStatus, PaymentOrderFilter,
};

use super::PAGE;
use crate::store::fixture::Fixture;
use crate::store::listings::Scene;

/// What both APIs read about one company and one of its operations, which has a mail, a delivery and a file.
pub(super) async fn of_company(fixture: &Fixture, payer: CompanyId, operation: &Operation) {
    operations(fixture, payer, operation).await;
    let small = fixture.payer().await;
    let only = fixture.offer(small).await;
    operations(fixture, small, &only).await;
    let directory = fixture.directory();
    let any = DeliveryFilter::default();
    let mut filters = vec![
        any,
        DeliveryFilter {
            event_type: Some(EventType::PreAuthorizationCreated),
            ..any
        },
        DeliveryFilter {
            operation: Some(operation.id),
            ..any
        },
    ];
    filters.extend(DeliveryWait::ALL.iter().map(|wait| DeliveryFilter {
        wait: Some(*wait),
        ..any
    }));
    filters.extend(DeliveryStatus::ALL.iter().map(|status| DeliveryFilter {
        status: Some(*status),
        ..any
    }));
    for filter in filters {
        let found = directory.deliveries(Some(payer), filter, PAGE, fixture.now);
        found.await.unwrap();
    }
    let any = MailFilter::default();
    let mut filters = vec![
        any,
        MailFilter {
            kind: Some(MailKind::Offer),
            ..any
        },
        MailFilter {
            operation: Some(operation.id),
            ..any
        },
    ];
    filters.extend(MailStatus::ALL.iter().map(|status| MailFilter {
        status: Some(*status),
        ..any
    }));
    for filter in filters {
        let found = directory.mails(Some(payer), filter, PAGE).await.unwrap();
        if let Some(one) = found.items.first() {
            assert!(directory.mail(one.id).await.unwrap().is_some());
        }
    }
    assert!(
        directory
            .invoice_file(operation.id)
            .await
            .unwrap()
            .is_some()
    );
    let of_operation = PaymentOrderFilter {
        operation: Some(operation.id),
        ..PaymentOrderFilter::default()
    };
    directory.payment_orders(of_operation, PAGE).await.unwrap();
}

async fn operations(fixture: &Fixture, payer: CompanyId, operation: &Operation) {
    let queries = &fixture.stores.queries;
    let of = |statuses: &[Status]| Filter {
        statuses: statuses.to_vec(),
        ..Filter::default()
    };
    let by_reference = Filter {
        external_reference: ExternalReference::parse("pedido 1").ok(),
        ..Filter::default()
    };
    let filters = [
        of(&[]),
        of(&[Status::InPreAuth]),
        of(&[Status::ToPay]),
        by_reference,
    ];
    for viewer in [Viewer::HeadOffice(payer), Viewer::Branch(payer)] {
        let found = queries.find(viewer, operation.id).await;
        assert!(found.unwrap().is_some());
        for filter in &filters {
            for page in [1, 2] {
                let page = PageRequest { page, ..PAGE };
                queries.list(viewer, filter, page).await.unwrap();
            }
        }
    }
}

/// Pages of each list over all companies.
pub(super) async fn over_all_companies(fixture: &Fixture) {
    let scene = Scene::new(fixture).await;
    // Statements with several filters have the parts of those with one.
    for search in scene.searches().iter().filter(|it| it.is_simple()) {
        for page in search.pages(&scene) {
            search.read(fixture, page).await;
        }
    }
}
