//! The texts of errors and answers for people, above all where a program just gives up.

use std::error::Error as StdError;
use std::io;
use std::net::TcpListener;
use std::time::Duration;

use preauth_client::{Client, ConfigError, Error, ErrorKind, InvoiceFile, RetryPolicy};
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

use crate::{KEY, answering, client, id, offer, quick, refusal, success};

/// The text after `Error: ` when `main` returns the error.
fn shown_by_main(error: impl Into<Box<dyn StdError>>) -> String {
    let error: Box<dyn StdError> = error.into();
    format!("{error:?}")
}

#[tokio::test]
async fn a_main_that_returns_a_refusal_shows_its_text() {
    let server = MockServer::start().await;
    let answer = refusal(404, "ANTICIPATION_NOT_FOUND").insert_header("x-request-id", "0197f3c2");
    answering(&server, answer, None).await;
    let error = client(&server).get(id()).await.unwrap_err();
    let text = "the service refused (status 404): ANTICIPATION_NOT_FOUND \"Uma frase.\" \
                [get 1042] [request id 0197f3c2]";
    assert_eq!(error.to_string(), text);
    assert_eq!(format!("{error:?}"), text);
    assert_eq!(format!("{error:#?}"), text);
    assert_eq!(shown_by_main(error), text);
}

#[tokio::test]
async fn a_main_that_returns_a_broken_connection_shows_why_it_broke() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = quick(&nobody).retry(RetryPolicy::never()).build().unwrap();
    let error = client.get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    let shown = shown_by_main(error);
    assert!(
        shown.starts_with("the service could not be reached [get 1042]: "),
        "{shown}"
    );
    let refused = io::Error::from(io::ErrorKind::ConnectionRefused).to_string();
    assert!(shown.to_lowercase().contains(&refused), "{shown}");
}

#[tokio::test]
async fn a_main_that_returns_an_unreadable_success_does_not_show_all_of_it() {
    let server = MockServer::start().await;
    let body = json!({"id": "x\n".repeat(50_000)});
    answering(
        &server,
        ResponseTemplate::new(201).set_body_json(body),
        None,
    )
    .await;
    let shown = shown_by_main(client(&server).create(&offer()).await.unwrap_err());
    assert!(
        shown.starts_with("the success could not be read (status 201) [create, idempotency key "),
        "{shown}"
    );
    assert!(shown.len() < 600 && !shown.contains('\n'), "{shown}");
}

#[test]
fn a_main_that_returns_a_wrong_setting_shows_which() {
    let error = Client::new("https://api.example.com", "whsec_secret").unwrap_err();
    assert_eq!(
        shown_by_main(error),
        "the api key does not begin with service_sk_"
    );
    let error = Error::from(ConfigError::BaseUrlScheme);
    assert_eq!(
        shown_by_main(error),
        "the client is set up wrongly: the base url does not begin with https:// or http://"
    );
    let error = Client::new("https://", KEY).unwrap_err();
    assert_eq!(shown_by_main(error), "the base url is invalid: empty host");
}

#[test]
fn a_wrong_setting_or_file_says_what_was_expected() {
    let url = |url: &str| Client::new(url, KEY).unwrap_err().to_string();
    let proxy = Client::builder("https://api.example.com", KEY).proxy("::");
    let roots = Client::builder("https://api.example.com", KEY).add_root_certificates("x");
    let file = |path: &str| shown_by_main(InvoiceFile::from_path(path).unwrap_err());
    let texts = [
        (
            url("https://me:pass@api.example.com"),
            "give the api key by itself",
        ),
        (url("https://api.example.com?x=1"), "only a path"),
        (url("http://api.example.com"), "use https"),
        (
            proxy.build().unwrap_err().to_string(),
            "http://proxy.example.com:3128",
        ),
        (roots.build().unwrap_err().to_string(), "BEGIN CERTIFICATE"),
        (file("NF-1.png"), "neither .pdf nor .xml"),
        (
            file(&format!("{}.pdf", "x".repeat(255))),
            "259 characters, the maximum is 255",
        ),
    ];
    for (text, named) in texts {
        assert!(text.contains(named), "{text}");
    }
}

#[tokio::test]
async fn a_create_without_an_answer_names_the_key_that_finds_what_it_did() {
    let server = MockServer::start().await;
    answering(
        &server,
        success(201).set_delay(Duration::from_secs(30)),
        None,
    )
    .await;
    let client = quick(&server.uri())
        .attempt_timeout(Duration::from_millis(100))
        .retry(RetryPolicy::never());
    let offer = offer().idempotency_key("erp:NF-1".parse().unwrap());
    let error = client.build().unwrap().create(&offer).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the service did not answer in time [create, idempotency key erp:NF-1]"
    );
}

#[tokio::test]
async fn an_error_names_the_wait_that_the_service_asks_for() {
    for (status, code) in [(429, "RATE_LIMITED"), (503, "SERVICE_UNAVAILABLE")] {
        let server = MockServer::start().await;
        let answer = refusal(status, code).insert_header("retry-after", "60");
        answering(&server, answer, None).await;
        let error = client(&server).get(id()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the service refused (status {status}): {code} \"Uma frase.\" [get 1042] \
                 [retry after 60 s]"
            )
        );
    }
}

#[tokio::test]
async fn an_error_with_an_endless_message_stays_short() {
    let server = MockServer::start().await;
    let body = json!({"errors": [{"code": "C".repeat(9000), "message": "m".repeat(9000)}]});
    answering(
        &server,
        ResponseTemplate::new(400).set_body_json(body),
        None,
    )
    .await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert!(error.to_string().len() < 1000, "{error}");
    assert_eq!(error.message().unwrap().len(), 9000);
}

#[tokio::test]
async fn an_answer_shows_its_value_and_only_the_length_of_its_bytes() {
    let server = MockServer::start().await;
    answering(&server, success(200), None).await;
    let read = client(&server).get(id()).await.unwrap();
    let shown = format!("{read:?}");
    assert!(
        shown.starts_with("Response { value: PreAuthorization {"),
        "{shown}"
    );
    let length = format!(" raw: {} bytes, ", read.raw().len());
    assert!(shown.contains(&length), "{shown}");
    assert!(!shown.contains("123, 34"), "{shown}");
}
