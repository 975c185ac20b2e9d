use preauth_client::ListFilter;
use preauth_client::blocking::Client;
use preauth_server::testing::TestServer;

use crate::offer;

#[test]
fn a_program_without_a_runtime_has_the_same_service() {
    let server = TestServer::start().unwrap();
    let client = Client::new(server.base_url(), server.api_key()).unwrap();
    let mut ids: Vec<_> = ["NF-1", "NF-2", "NF-3"]
        .map(|number| client.create(&offer(&server, number)).unwrap().id)
        .into();
    ids.reverse();
    let all = client.list_all(&ListFilter::new());
    let listed: Vec<_> = all.map(|operation| operation.unwrap().id).collect();
    assert_eq!(listed, ids);
}

#[test]
fn a_program_without_a_runtime_offers_many() {
    let server = TestServer::start().unwrap();
    let client = Client::new(server.base_url(), server.api_key()).unwrap();
    let all: Vec<_> = (0..120)
        .map(|number| offer(&server, &format!("NF-{number}")))
        .collect();
    assert!(client.validate(&all[0]).unwrap().valid);
    let mut many = client.create_many(all).unwrap();
    let made = many
        .by_ref()
        .filter(|outcome| outcome.as_ref().unwrap().result.is_ok());
    assert_eq!(made.count(), 120);
    assert_eq!(many.progress().created, 120);
}
