//! Every list over all companies, as its pages are read; the tests of each database look at the plans.

use chrono::TimeDelta;
use preauth_core::operation::{Command, Offer, Operation};
use preauth_core::port::{Filter, PageRequest, Viewer};
use preauth_core::value::{OperationId, Status};
use preauth_server::directory::{
    AuditFilter, DeliveryFilter, DeliveryStatus, MailFilter, MailStatus, NEWEST, OperationFilter,
    PaymentOrderFilter,
};

use crate::store::fixture::Fixture;
use crate::store::mails::command_done;

/// The first page, the last one, and the one after it.
const PAGES: [PageRequest; 3] = [
    PageRequest {
        page: 1,
        limit: 100,
    },
    PageRequest {
        page: 100,
        limit: 100,
    },
    PageRequest {
        page: 101,
        limit: 100,
    },
];
/// Rows in each table.
pub(crate) const ROWS: u32 = 200_000;

/// Reads every list, by every filter that an index serves; `offer` becomes one of few of its kind.
pub(crate) async fn read_all(fixture: &Fixture, offer: &Offer) {
    let one = fixture.make(offer).await;
    command_done(fixture, one.id, &Command::Request).await;
    let mut totals = Vec::new();
    for page in PAGES {
        totals.extend(operations(fixture, &one, page).await);
        totals.extend(deliveries_and_mails(fixture, one.id, page).await);
        totals.extend(logs_and_orders(fixture, one.id, page).await);
    }
    assert!(totals.iter().all(|it| *it <= u64::from(NEWEST)));
    let full = totals.iter().filter(|it| **it == u64::from(NEWEST)).count();
    assert!(full > PAGES.len() * 6, "{full} of many: {totals:?}");
}

async fn operations(fixture: &Fixture, one: &Operation, page: PageRequest) -> Vec<u64> {
    let by = OperationFilter::default;
    let searches = [
        OperationFilter {
            cnpj: Some(one.supplier.cnpj),
            ..by()
        },
        OperationFilter {
            cnpj: Some(one.payer.cnpj),
            ..by()
        },
        OperationFilter {
            invoice_number: one.invoice.number.clone(),
            ..by()
        },
        OperationFilter {
            from: Some(fixture.later(-TimeDelta::days(1))),
            ..by()
        },
    ];
    let mut totals = Vec::new();
    for filter in &searches {
        let found = fixture.directory().search_operations(filter, page).await;
        totals.push(found.unwrap().total);
    }
    // A status of few operations; totals by status are kept.
    let rare = Filter {
        external_reference: None,
        statuses: vec![Status::ToApprove],
    };
    let queries = &fixture.stores.queries;
    let found = queries.list(Viewer::Platform, &rare, page).await.unwrap();
    assert!((1..100).contains(&found.total), "{}", found.total);
    totals
}

async fn deliveries_and_mails(
    fixture: &Fixture,
    operation: OperationId,
    page: PageRequest,
) -> Vec<u64> {
    let deliveries = [
        DeliveryFilter::default(),
        DeliveryFilter {
            status: Some(DeliveryStatus::Delivered),
            ..DeliveryFilter::default()
        },
        DeliveryFilter {
            operation: Some(operation),
            ..DeliveryFilter::default()
        },
    ];
    let mails = [
        MailFilter::default(),
        MailFilter {
            status: Some(MailStatus::Sent),
            ..MailFilter::default()
        },
        MailFilter {
            operation: Some(operation),
            ..MailFilter::default()
        },
    ];
    let directory = fixture.directory();
    let mut totals = Vec::new();
    for filter in deliveries {
        let found = directory.deliveries(None, filter, page, fixture.now);
        totals.push(found.await.unwrap().total);
    }
    for filter in mails {
        totals.push(directory.mails(None, filter, page).await.unwrap().total);
    }
    totals
}

async fn logs_and_orders(fixture: &Fixture, operation: OperationId, page: PageRequest) -> Vec<u64> {
    let logs = [
        AuditFilter::default(),
        AuditFilter {
            action: Some("payOperation".to_owned()),
            ..AuditFilter::default()
        },
        AuditFilter {
            record: Some("operations/1".to_owned()),
            ..AuditFilter::default()
        },
        AuditFilter {
            until: Some(fixture.now),
            ..AuditFilter::default()
        },
    ];
    // The list of all orders is whole.
    let of_operation = PaymentOrderFilter {
        operation: Some(operation),
        ..PaymentOrderFilter::default()
    };
    let directory = fixture.directory();
    let mut totals = Vec::new();
    for filter in logs {
        totals.push(directory.audit_log(filter, page).await.unwrap().total);
    }
    let orders = directory.payment_orders(of_operation, page).await.unwrap();
    totals.push(orders.total);
    totals
}
