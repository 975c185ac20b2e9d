use std::time::Duration;

use preauth_client::value::{Money, Status};
use preauth_client::{WaitPolicy, Waited};
use preauth_core::operation::Command;
use preauth_server::testing::TestServer;

use crate::{client, offer};

/// Asks ten times a second, for as long as a loaded machine may need.
fn patient() -> WaitPolicy {
    WaitPolicy::new(Duration::from_secs(120)).max_interval(Duration::from_millis(100))
}

#[tokio::test]
async fn an_operation_is_followed_to_the_supplier_and_to_the_payment() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let id = client.create(&offer(&server, "NF-1")).await.unwrap().id;
    let (waited, ()) = tokio::join!(
        client.wait_for_status(id, &[Status::ToApprove, Status::InAnalysis], patient()),
        async {
            let now = server.act(id, &Command::Request).unwrap();
            assert_eq!(now, Status::ToApprove);
        }
    );
    assert!(matches!(waited.unwrap(), Waited::Reached(_)));

    assert!(
        server.act(id, &Command::Pay).is_err(),
        "nobody has approved it"
    );
    server.act(id, &Command::Approve).unwrap();
    let net_amount = Money::parse("12000").unwrap();
    server.act(id, &Command::Release { net_amount }).unwrap();
    let waited = client
        .wait_for_status(id, &[Status::ToPay], patient())
        .await;
    assert_eq!(waited.unwrap().operation().status, Status::ToPay);
}

#[tokio::test]
async fn waiting_ends_when_the_supplier_declines() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let id = client.create(&offer(&server, "NF-1")).await.unwrap().id;
    server.act(id, &Command::Decline { reason: None }).unwrap();
    let waited = client
        .wait_for_status(id, &[Status::ToApprove], patient())
        .await;
    assert!(matches!(waited.unwrap(), Waited::Closed(_)));
}

#[tokio::test]
async fn an_offer_that_nobody_takes_up_expires_when_time_passes() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let created = client.create(&offer(&server, "NF-1")).await.unwrap();
    let before = server.now();
    let after = server.advance(Duration::from_secs(31 * 86_400)).unwrap();
    assert!(before < after && created.expires_at.unwrap() < after);
    let waited = client
        .wait_for_status(created.id, &[Status::Reproved], patient())
        .await;
    assert!(matches!(waited.unwrap(), Waited::Reached(_)));
    assert!(server.advance(Duration::from_secs(367 * 86_400)).is_err());
}
