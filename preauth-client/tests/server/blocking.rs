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
