use std::collections::BTreeSet;
use std::time::Duration;

use preauth_client::{
    Client, CreateMany, ErrorCode, FileType, InvoiceFile, ListFilter, ManyOutcome,
    NewPreAuthorization, RetryPolicy,
};
use preauth_server::testing::TestServer;

use crate::{client, client_once, offer};

/// Offers of invoices with these numbers, each under a key that belongs to it.
fn offers(
    server: &TestServer,
    numbers: impl IntoIterator<Item = usize>,
) -> Vec<NewPreAuthorization> {
    let numbers = numbers.into_iter();
    let keyed = numbers.map(|number| {
        let key = format!("erp:pedido:{number}");
        offer(server, &format!("NF-{number}")).idempotency_key(key.parse().unwrap())
    });
    keyed.collect()
}

async fn outcomes(offers: &mut CreateMany) -> Vec<ManyOutcome> {
    let mut outcomes = Vec::new();
    while let Some(outcome) = offers.next().await {
        outcomes.push(outcome.unwrap());
    }
    outcomes.sort_by_key(|outcome| outcome.index);
    outcomes
}

async fn total(client: &Client) -> u64 {
    let one = ListFilter::new().limit(1);
    client.list(&one).await.unwrap().pagination.total
}

#[tokio::test]
async fn every_offer_has_its_outcome_and_is_made_once_however_often_it_is_sent() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let mut all = offers(&server, 0..230);
    all[150] = offer(&server, "sandbox:PRE_AUTH_SUPPLIER_BLOCKED");
    let invoice = InvoiceFile::from_bytes("nota.pdf", FileType::Pdf, b"%PDF-1.7".to_vec()).unwrap();
    all[40] = offer(&server, "NF-40")
        .file(invoice)
        .idempotency_key("erp:pedido:40".parse().unwrap());

    let mut first = client.create_many(all.clone()).unwrap();
    let made = outcomes(&mut first).await;
    let places: Vec<_> = made.iter().map(|outcome| outcome.index).collect();
    assert_eq!(places, (0..230).collect::<Vec<_>>());
    let mut ids = BTreeSet::new();
    for (index, outcome) in made.into_iter().enumerate() {
        match outcome.result {
            Ok(created) => {
                let number = created.operation.invoice.number;
                assert_eq!(number.unwrap(), format!("NF-{index}"));
                assert!(!created.is_replayed);
                assert!(ids.insert(created.operation.id));
            }
            Err(refusal) => {
                assert_eq!(index, 150);
                assert_eq!(*refusal.code().unwrap(), ErrorCode::PreAuthSupplierBlocked);
                assert_eq!(refusal.status(), Some(422));
                assert_eq!(refusal.idempotency_key(), Some(&outcome.idempotency_key));
            }
        }
    }
    let progress = first.progress();
    let counts = (
        progress.total,
        progress.created,
        progress.replayed,
        progress.failed,
    );
    assert_eq!(counts, (230, 229, 0, 1));

    let mut again = client.create_many(all).unwrap();
    for outcome in outcomes(&mut again).await {
        match outcome.result {
            Ok(created) => assert!(created.is_replayed && ids.contains(&created.operation.id)),
            Err(_) => assert_eq!(outcome.index, 150),
        }
    }
    assert_eq!(again.progress().replayed, 229);
    assert_eq!(total(&client).await, 229);
}

#[tokio::test]
async fn a_program_that_ends_in_between_sends_all_again_and_doubles_nothing() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let all = offers(&server, 0..300);
    for taken in [0, 1, 120] {
        let mut offers = client.create_many(all.clone()).unwrap();
        for _ in 0..taken {
            offers.next().await.unwrap().unwrap();
        }
        // Something is on its way.
        let next = tokio::time::timeout(Duration::from_millis(1), offers.next());
        drop(next.await);
        let progress = offers.progress();
        let known = progress.created + progress.replayed;
        // An outcome that was found and not asked for is nobody's yet.
        assert_eq!(offers.into_unsettled().len(), 300 - known);
    }
    let mut offers = client.create_many(all).unwrap();
    let made = outcomes(&mut offers).await;
    assert!(made.iter().all(|outcome| outcome.result.is_ok()));
    assert_eq!((made.len(), total(&client).await), (300, 300));
}

#[tokio::test]
async fn an_offer_that_fails_for_a_moment_is_sent_again_without_the_others() {
    let server = TestServer::start().unwrap();
    let retry = RetryPolicy::default()
        .max_attempts(3)
        .first_delay(Duration::from_millis(1));
    let client = Client::builder(server.base_url(), server.api_key());
    let client = client.retry(retry).build().unwrap();
    let mut all = offers(&server, 0..5);
    // Not the first one, which would refuse the whole batch.
    all[2] = offer(&server, "sandbox:IDEMPOTENCY_IN_PROGRESS");
    let mut many = client.create_many(all).unwrap();
    // Sent again alone it is the first one: its code concerns no whole batch.
    let made = outcomes(&mut many).await;
    let failed: Vec<_> = made.iter().filter(|it| it.result.is_err()).collect();
    assert_eq!(failed.len(), 1);
    let error = failed[0].result.as_ref().unwrap_err();
    assert_eq!((failed[0].index, error.attempts()), (2, 3));
    assert!(error.is_retryable());
    assert_eq!(total(&client).await, 4);
}

#[tokio::test]
async fn a_batch_that_cannot_be_sent_is_kept_and_sent_by_the_next_poll() {
    let server = TestServer::start().unwrap();
    let client = client_once(&server, server.api_key());
    let mut all = offers(&server, 0..3);
    all[0] = offer(&server, "sandbox:RATE_LIMITED");
    let mut many = client.create_many(all).unwrap();
    for _ in 0..2 {
        let error = many.next().await.unwrap().unwrap_err();
        assert_eq!(*error.code().unwrap(), ErrorCode::RateLimited);
        assert!(error.is_retryable());
    }
    assert_eq!(many.into_unsettled().len(), 3);
    assert_eq!(total(&client).await, 0);
}

#[tokio::test]
async fn a_key_that_was_revoked_ends_the_stream_and_returns_what_is_left() {
    let server = TestServer::start().unwrap();
    let client = client_once(&server, server.api_key());
    let mut all = offers(&server, 0..3);
    all[0] = offer(&server, "sandbox:API_KEY_REVOKED");
    let mut many = client.create_many(all).unwrap();
    let error = many.next().await.unwrap().unwrap_err();
    assert!(!error.is_retryable());
    assert!(many.next().await.is_none());
    assert_eq!(many.into_unsettled().len(), 3);
}

#[tokio::test]
async fn a_key_that_is_revoked_while_a_batch_is_carried_out_is_no_outcome_of_an_offer() {
    let server = TestServer::start().unwrap();
    let client = client_once(&server, server.api_key());
    let mut all = offers(&server, 0..3);
    // Not the first one, which would refuse the whole batch.
    all[1] = offer(&server, "sandbox:API_KEY_REVOKED");
    let mut many = client.create_many(all).unwrap();
    for place in [0, 2] {
        let outcome = many.next().await.unwrap().unwrap();
        assert_eq!(outcome.index, place);
        assert!(outcome.result.is_ok());
    }
    let error = many.next().await.unwrap().unwrap_err();
    assert_eq!(*error.code().unwrap(), ErrorCode::ApiKeyRevoked);
    assert!(many.next().await.is_none());
    assert_eq!(many.progress().failed, 0);
    assert_eq!(many.into_unsettled().len(), 1);
    assert_eq!(total(&client).await, 2);
}

#[tokio::test]
async fn an_offer_is_tried_without_being_made() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let tried = client.validate(&offer(&server, "NF-1")).await.unwrap();
    assert!(tried.valid && tried.supplier.registered);
    assert_eq!(total(&client).await, 0);
    client.create(&offer(&server, "NF-1")).await.unwrap();
    let refused = client.validate(&offer(&server, "NF-1")).await.unwrap_err();
    assert_eq!(*refused.code().unwrap(), ErrorCode::PreAuthDuplicateInvoice);
    assert!(refused.existing_operation_id().is_some());
}

#[tokio::test]
async fn no_offers_need_no_request() {
    let server = TestServer::start().unwrap();
    let mut none = client(&server).create_many([]).unwrap();
    drop(server);
    assert!(none.next().await.is_none());
}
