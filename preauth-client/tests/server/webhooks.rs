use preauth_server::testing::TestServer;
use serde_json::Value;
use wiremock::matchers::{header_exists, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::{client, offer};

#[tokio::test]
async fn webhooks_go_where_the_test_wants_them() {
    let receiver = MockServer::start().await;
    Mock::given(method("POST"))
        .and(header_exists("x-service-signature"))
        .respond_with(ResponseTemplate::new(204))
        .mount(&receiver)
        .await;
    let url = format!("{}/webhooks", receiver.uri());
    let server = TestServer::builder().webhook_url(url).start().unwrap();
    let created = client(&server)
        .create(&offer(&server, "NF-1"))
        .await
        .unwrap();
    let request = loop {
        if let [request, ..] = &receiver.received_requests().await.unwrap()[..] {
            break request.body_json::<Value>().unwrap();
        }
        tokio::task::yield_now().await;
    };
    let field = |pointer| request.pointer(pointer).unwrap().clone();
    assert_eq!(field("/type"), "pre_authorization.created");
    assert_eq!(field("/data/anticipationId"), created.id.get());
}

#[tokio::test]
async fn an_address_that_no_webhook_can_have_is_refused_at_the_start() {
    let error = TestServer::builder()
        .webhook_url("ftp://example.com")
        .start();
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "the test server could not be started");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("ftp://example.com"), "{cause}");
}
