use preauth_client::ErrorKind;
use wiremock::{MockServer, ResponseTemplate};

use crate::{answering, client, id, offer, operation, quick, refusal, requests, success};

#[tokio::test]
async fn a_page_of_something_in_between_keeps_its_status() {
    for (status, is_retryable) in [(403, false), (404, false), (418, false), (502, true)] {
        let server = MockServer::start().await;
        let page = ResponseTemplate::new(status).set_body_string("<html>Bad Gateway</html>");
        answering(&server, page, None).await;
        let error = client(&server).get(id()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedAnswer);
        assert_eq!(error.status(), Some(status));
        assert_eq!(error.is_retryable(), is_retryable, "{status}");
        assert_eq!(error.problems().count(), 0);
    }
}

#[tokio::test]
async fn a_refusal_without_any_error_is_not_one_of_the_service() {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(400).set_body_string(r#"{"errors":[]}"#);
    answering(&server, answer, None).await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedAnswer);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    for status in [301, 302, 307, 308] {
        let server = MockServer::start().await;
        let target = format!("{}/elsewhere", server.uri());
        let answer = ResponseTemplate::new(status).insert_header("location", target.as_str());
        answering(&server, answer, None).await;
        let error = client(&server).create(&offer()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedAnswer);
        assert_eq!(error.status(), Some(status));
        assert_eq!(requests(&server).await.len(), 1);
    }
}

#[tokio::test]
async fn a_success_that_cannot_be_read_is_not_asked_for_again() {
    for body in ["", "null", "[]", "{}", "<html>", r#"{"id":1}"#] {
        let server = MockServer::start().await;
        let answer = ResponseTemplate::new(201).set_body_raw(body, "application/json");
        answering(&server, answer, None).await;
        let error = client(&server).create(&offer()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnreadableSuccess, "{body}");
        assert_eq!(error.attempts(), 1);
        assert!(std::error::Error::source(&error).is_some());
    }
}

#[tokio::test]
async fn a_page_that_is_called_a_success_is_none_of_the_service() {
    for limit in [8, 1 << 20] {
        let server = MockServer::start().await;
        let page = "<html>Please log in to the network</html>";
        let answer = ResponseTemplate::new(200).set_body_raw(page, "text/html; charset=utf-8");
        answering(&server, answer, None).await;
        let client = quick(&server.uri()).max_answer_bytes(limit);
        let error = client.build().unwrap().create(&offer()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedAnswer, "{limit}");
        assert_eq!((error.status(), error.attempts()), (Some(200), 1));
        assert!(!error.is_retryable() && error.idempotency_key().is_some());
    }
}

#[tokio::test]
async fn json_of_another_content_type_is_read() {
    let server = MockServer::start().await;
    let body = operation("IN_PRE_AUTH").to_string();
    let answer = ResponseTemplate::new(200).set_body_raw(body, "text/plain");
    answering(&server, answer, None).await;
    assert!(client(&server).get(id()).await.is_ok());
}

#[tokio::test]
async fn an_answer_up_to_the_limit_is_read_and_a_longer_one_is_not() {
    let server = MockServer::start().await;
    answering(&server, success(200), None).await;
    let length = client(&server).get(id()).await.unwrap().raw().len();
    let limited = |bytes| {
        quick(&server.uri())
            .max_answer_bytes(bytes)
            .build()
            .unwrap()
    };
    assert!(limited(length).get(id()).await.is_ok());
    let error = limited(length - 1).get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AnswerTooLarge);
    assert_eq!(error.status(), Some(200));
}

#[tokio::test]
async fn a_refusal_beyond_the_limit_keeps_its_status() {
    let server = MockServer::start().await;
    answering(&server, refusal(503, "SERVICE_UNAVAILABLE"), None).await;
    let client = quick(&server.uri()).max_answer_bytes(8).build().unwrap();
    let error = client.get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedAnswer);
    assert_eq!((error.status(), error.attempts()), (Some(503), 3));
}
