use std::time::Duration;

use preauth_client::{Client, ConfigError, Error, ErrorKind, InvoiceFile, ListFilter, WaitPolicy};
use wiremock::MockServer;

use crate::{KEY, answering, id, offer, quick, refusal};

#[tokio::test]
async fn the_key_is_in_no_text_that_could_be_logged() {
    let server = MockServer::start().await;
    answering(&server, refusal(401, "API_KEY_EXPIRED"), None).await;
    let builder = quick(&server.uri());
    let builder_text = format!("{builder:?}");
    let client = builder.build().unwrap();
    let error = client.get(id()).await.unwrap_err();
    for text in [builder_text, format!("{client:?} {error} {error:?}")] {
        assert!(!text.contains(KEY), "{text}");
    }
}

#[test]
fn a_wrong_setting_is_an_error_of_its_own_that_can_join_the_others() {
    let error = Client::new("https://api.example.com", "whsec_secret").unwrap_err();
    assert!(matches!(error, ConfigError::ApiKeyPrefix));
    let error = Error::from(error);
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Config, 0));
    assert_eq!(error.to_string(), "the client is set up wrongly");
    assert!(!format!("{error:?}").contains("whsec_secret"));
}

#[test]
fn a_client_with_tls_can_be_built_and_a_password_in_the_address_is_refused() {
    assert!(Client::new("https://api.example.com", KEY).is_ok());
    let error = Client::new("https://user:secret@api.example.com", KEY).unwrap_err();
    assert!(matches!(error, ConfigError::BaseUrlCredentials));
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[test]
fn clients_and_errors_may_go_anywhere() {
    fn anywhere<T: Send + Sync + 'static>() {}
    fn shared<T: Send + Sync + Clone + 'static>() {}
    fn spawned<T: Send>(_: &T) {}
    shared::<Client>();
    shared::<InvoiceFile>();
    anywhere::<Error>();
    let client = Client::new("https://api.example.com", KEY).unwrap();
    spawned(&client.clone().create(&offer()));
    spawned(&client.create_or_get(&offer()));
    spawned(&client.list(&ListFilter::new()));
    spawned(&client.list_all(&ListFilter::new()));
    spawned(&client.wait_for_status(id(), &[], WaitPolicy::new(Duration::ZERO)));
}
