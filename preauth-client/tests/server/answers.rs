use std::time::Duration;

use preauth_client::value::{Money, Status};
use preauth_client::wire::PreAuthorizationList;
use preauth_client::{Call, Ensured, ErrorCode, ListFilter, Response};
use preauth_server::testing::TestServer;

use crate::{client, client_once, key, offer};

#[tokio::test]
async fn an_offer_is_read_listed_and_cancelled_with_its_exact_values() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let reference = "pedido 4711/é & filhos";
    let offered = offer(&server, "NF-1")
        .withheld_tax(Money::parse("100.05").unwrap())
        .external_reference(reference.parse().unwrap());
    let created = client.create(&offered).await.unwrap();
    assert_eq!((created.status(), created.attempts()), (201, 1));
    assert!(!created.is_replayed());
    assert!(created.request_id().is_some() && created.idempotency_key().is_some());
    assert_eq!(created.invoice.amount.money().cents(), 1_250_050);
    assert_eq!(created.invoice.withheld_tax_amount.money().cents(), 10_005);
    assert_eq!(created.external_reference.as_deref(), Some(reference));

    let read = client.get(created.id).await.unwrap();
    assert_eq!(*read, *created);
    assert_eq!(read.idempotency_key(), None);
    assert!(read.rate_limit().is_some());

    let filter = ListFilter::new()
        .external_reference(reference.parse().unwrap())
        .status(Status::InPreAuth);
    let page = client.list(&filter).await.unwrap();
    assert_eq!(page.data, [read.into_value()]);

    for _ in 0..2 {
        let cancelled = client.cancel(created.id).await.unwrap();
        assert_eq!(cancelled.status, Status::Reproved);
    }
    assert_eq!(client.list(&filter).await.unwrap().pagination.total, 0);
}

#[tokio::test]
async fn an_offer_is_new_repeated_or_somebody_elses() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let first = offer(&server, "NF-1").idempotency_key(key("erp:NF-1"));
    let made = client.create_or_get(&first).await.unwrap();
    assert!(matches!(made, Ensured::Created(_)), "{made:?}");

    client.cancel(made.id()).await.unwrap();
    let repeated = client.create_or_get(&first).await.unwrap();
    let Ensured::Replayed(as_it_was) = &repeated else {
        panic!("the same key repeats its answer: {repeated:?}")
    };
    assert_eq!(
        (as_it_was.id, as_it_was.status.clone()),
        (made.id(), Status::InPreAuth.into())
    );

    let anew = offer(&server, "NF-1").idempotency_key(key("erp:NF-1:2"));
    let anew = client.create_or_get(&anew).await.unwrap().id();
    assert_ne!(anew, made.id());
    let elsewhere = client.create_or_get(&offer(&server, "NF-1")).await.unwrap();
    let Ensured::AlreadyExists(holder) = &elsewhere else {
        panic!("the invoice is on offer under another key: {elsewhere:?}")
    };
    assert_eq!(**holder, *client.get(anew).await.unwrap());
    assert_eq!(holder.status(), 200);
}

#[tokio::test]
async fn a_duplicate_that_the_key_may_not_read_is_an_error_that_names_it() {
    let server = TestServer::start().unwrap();
    let first = client(&server).create(&offer(&server, "NF-1")).await;
    let first = first.unwrap().id;

    let write_only = client_once(&server, &server.credentials().write_only_api_key);
    let duplicate = offer(&server, "NF-1").idempotency_key(key("erp:NF-1:2"));
    let error = write_only.create_or_get(&duplicate).await.unwrap_err();
    assert_eq!(error.call(), Some(Call::Get));
    assert_eq!(
        error.code().and_then(|code| code.known()),
        Some(&ErrorCode::IntegrationScopeForbidden)
    );
    assert_eq!(error.existing_operation_id(), Some(first));
    assert_eq!(error.idempotency_key(), Some(&key("erp:NF-1:2")));
}

#[tokio::test]
async fn a_request_limit_is_reported_and_refilled_by_time() {
    let server = TestServer::builder().rate_limit(2).start().unwrap();
    let client = client_once(&server, server.api_key());
    let left = |answer: &Response<PreAuthorizationList>| answer.rate_limit().unwrap().remaining();
    assert_eq!(left(&client.list(&ListFilter::new()).await.unwrap()), 1);
    assert_eq!(left(&client.list(&ListFilter::new()).await.unwrap()), 0);
    let error = client.list(&ListFilter::new()).await.unwrap_err();
    assert_eq!((error.status(), error.is_retryable()), (Some(429), true));
    let wait = error.retry_after().unwrap();
    assert!(
        wait > Duration::ZERO && wait <= Duration::from_secs(60),
        "{wait:?}"
    );
    assert_eq!(error.rate_limit().unwrap().limit(), 2);

    server.advance(wait).unwrap();
    assert_eq!(left(&client.list(&ListFilter::new()).await.unwrap()), 1);
}
