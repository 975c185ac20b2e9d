use std::collections::BTreeSet;

use preauth_client::value::Status;
use preauth_client::{Client, ListFilter};
use preauth_server::testing::TestServer;

use crate::{client, offer};

async fn offered(
    server: &TestServer,
    client: &Client,
    numbers: impl IntoIterator<Item = i32>,
) -> BTreeSet<i64> {
    let mut ids = BTreeSet::new();
    for number in numbers {
        let offer = offer(server, &format!("NF-{number}"));
        ids.insert(client.create(&offer).await.unwrap().id.get());
    }
    ids
}

#[tokio::test]
async fn a_walk_through_all_is_whole_while_new_ones_are_offered_and_old_ones_cancelled() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let existing = offered(&server, &client, 0..75).await;

    let on_offer = ListFilter::new().status(Status::InPreAuth).limit(20);
    let mut operations = client.list_all(&on_offer);
    let (mut given, mut newest) = (Vec::new(), 1000);
    while let Some(operation) = operations.next().await {
        let id = operation.unwrap().id;
        given.push(id.get());
        // Everything that is given leaves the filter, and something new comes in above.
        client.cancel(id).await.unwrap();
        if given.len() % 3 == 0 {
            offered(&server, &client, newest..=newest).await;
            newest = newest.saturating_add(1);
        }
    }
    assert_eq!(given.len(), existing.len());
    assert!(given.is_sorted_by(|newer, older| newer > older));
    assert_eq!(given.into_iter().collect::<BTreeSet<_>>(), existing);
    let left = client.list(&on_offer).await.unwrap().pagination.total;
    assert_eq!(left, 25);
}

#[tokio::test]
async fn a_walk_without_a_filter_gives_everything() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let existing = offered(&server, &client, 0..45).await;
    let mut operations = client.list_all(&ListFilter::new().limit(20));
    let mut given = BTreeSet::new();
    while let Some(operation) = operations.next().await {
        assert!(given.insert(operation.unwrap().id.get()));
    }
    assert_eq!(given, existing);
    assert!(operations.rate_limit().is_some());
}
