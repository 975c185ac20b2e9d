//! The sender on real sockets: what it sends, how much it reads, whom it does not talk to.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::AttemptError;

use super::receiver::{Behaviour, Receiver};
use super::{answer, eventually};
use crate::dispatcher::{
    Answer, HttpSender, HttpSenderOptions, Lookup, Request, RetryAfter, Sender, TargetPolicy,
};

/// Answers look-ups from a list; each answer once, an empty one as an error.
struct Answers(Mutex<VecDeque<Vec<IpAddr>>>);

#[async_trait]
impl Lookup for Answers {
    async fn addresses(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        let next = self.0.lock().unwrap().pop_front().unwrap_or_default();
        if next.is_empty() {
            Err(io::ErrorKind::NotFound.into())
        } else {
            Ok(next)
        }
    }
}

fn answers(answers: &[&[&str]]) -> Arc<Answers> {
    let parsed = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    Arc::new(Answers(Mutex::new(answers.iter().map(parsed).collect())))
}

fn local() -> HttpSenderOptions {
    HttpSenderOptions::new(TargetPolicy::AllowLocal)
}

/// So short that a test may wait for its end.
fn hasty() -> HttpSenderOptions {
    HttpSenderOptions {
        exchange: Duration::from_millis(150),
        ..local()
    }
}

fn request(url: &str) -> Request {
    Request {
        url: url.to_owned(),
        headers: vec![
            ("content-type", "application/json".to_owned()),
            ("x-service-event-id", "1".to_owned()),
            ("user-agent", "preauth/test".to_owned()),
        ],
        body: "{\"text\":\"ação\"}".to_owned(),
    }
}

async fn send(options: HttpSenderOptions, url: &str) -> Result<Answer, AttemptError> {
    let sender = HttpSender::new(options).unwrap();
    eventually(sender.send(request(url))).await
}

#[tokio::test]
async fn the_request_is_exactly_what_the_contract_says() {
    let receiver = Receiver::start(Behaviour::answer("201 Created", "seen")).await;
    let answered = send(local(), &receiver.url()).await;
    assert_eq!(answered, Ok(answer(201)));
    let request = receiver.requests().remove(0);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "{\"text\":\"ação\"}");
    let mut lines = head.lines();
    assert_eq!(lines.next(), Some("POST /hook?tenant=1 HTTP/1.1"));
    let mut headers: Vec<_> = lines.collect();
    headers.sort_unstable();
    let expected = [
        "accept: */*",
        "content-length: 17",
        "content-type: application/json",
        &format!("host: 127.0.0.1:{}", receiver.port),
        "user-agent: preauth/test",
        "x-service-event-id: 1",
    ];
    assert_eq!(headers, expected);
}

#[tokio::test]
async fn any_status_is_an_answer() {
    for status in [204, 400, 410, 500, 503] {
        let receiver = Receiver::start(Behaviour::answer(&format!("{status} x"), "seen")).await;
        let answered = send(local(), &receiver.url()).await.unwrap();
        assert_eq!(answered.status, status);
    }
}

#[tokio::test]
async fn retry_after_is_read() {
    let head = "503 Service Unavailable\r\nretry-after: 120";
    let receiver = Receiver::start(Behaviour::answer(head, "")).await;
    let answered = send(local(), &receiver.url()).await.unwrap();
    assert_eq!(answered.retry_after, Some(RetryAfter::Seconds(120)));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let head = format!("{status} x\r\nlocation: /elsewhere");
        let receiver = Receiver::start(Behaviour::answer(&head, "")).await;
        let answered = send(local(), &receiver.url()).await.unwrap();
        assert_eq!(answered.status, status);
        assert_eq!(receiver.requests().len(), 1);
    }
}

#[tokio::test]
async fn of_an_endless_body_only_the_beginning_is_read() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let receiver = Receiver::start(Behaviour::Endless(head)).await;
    let answered = send(local(), &receiver.url()).await.unwrap();
    assert_eq!((answered.status, answered.body), (200, vec![b'x'; 1024]));
}

#[tokio::test]
async fn a_body_that_stalls_is_cut_and_the_status_counts() {
    let beginning = b"HTTP/1.1 500 x\r\ncontent-length: 9\r\n\r\nbroken".to_vec();
    let receiver = Receiver::start(Behaviour::Stall(beginning)).await;
    let answered = send(hasty(), &receiver.url()).await.unwrap();
    assert_eq!((answered.status, answered.body), (500, b"broken".to_vec()));
}

#[tokio::test]
async fn a_receiver_that_says_nothing_is_given_up() {
    for beginning in ["", "HTTP/1.1 200 OK\r\nx-slow: "] {
        let receiver = Receiver::start(Behaviour::Stall(beginning.into())).await;
        let answered = send(hasty(), &receiver.url()).await;
        assert_eq!(answered, Err(AttemptError::TimedOut), "{beginning}");
    }
}

#[test]
fn a_receiver_has_the_ten_seconds_of_the_contract() {
    let options = HttpSenderOptions::new(TargetPolicy::Public);
    assert_eq!(options.exchange, Duration::from_secs(10));
}

#[tokio::test]
async fn a_connection_that_breaks_is_no_answer() {
    let receiver = Receiver::start(Behaviour::HangUp).await;
    let answered = send(local(), &receiver.url()).await;
    assert_eq!(answered, Err(AttemptError::Connection));
    let url = receiver.url();
    drop(receiver);
    assert!(send(local(), &url).await.is_err());
}

#[tokio::test]
async fn a_head_of_more_than_64_kib_is_no_answer() {
    let head = format!("200 OK\r\nx-long: {}", "a".repeat(70_000));
    let receiver = Receiver::start(Behaviour::answer(&head, "")).await;
    let answered = send(local(), &receiver.url()).await;
    assert_eq!(answered, Err(AttemptError::Connection));
}

#[tokio::test]
async fn a_compressed_body_is_kept_as_it_came() {
    let head = "200 OK\r\ncontent-encoding: gzip";
    let receiver = Receiver::start(Behaviour::answer(head, "seen")).await;
    assert_eq!(send(local(), &receiver.url()).await, Ok(answer(200)));
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let receiver = Receiver::start(Behaviour::answer("200 OK", "seen")).await;
    let sender = HttpSender::new(local()).unwrap();
    for _ in 0..3 {
        let answered = eventually(sender.send(request(&receiver.url()))).await;
        assert_eq!(answered, Ok(answer(200)));
    }
    assert_eq!((receiver.requests().len(), receiver.connections()), (3, 1));
}

#[tokio::test]
async fn production_does_not_even_connect_to_an_address_that_is_not_public() {
    let receiver = Receiver::start(Behaviour::answer("200 OK", "")).await;
    let port = receiver.port;
    let urls = [
        format!("http://127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        "https://127.0.0.1/".to_owned(),
        "https://[::ffff:127.0.0.1]/".to_owned(),
    ];
    for url in urls {
        let answered = send(HttpSenderOptions::new(TargetPolicy::Public), &url).await;
        assert_eq!(answered, Err(AttemptError::AddressRefused), "{url}");
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn a_name_goes_to_its_judged_address_and_stays_in_the_host_header() {
    let receiver = Receiver::start(Behaviour::answer("200 OK", "seen")).await;
    let options = HttpSenderOptions {
        lookup: answers(&[&["127.0.0.1"]]),
        ..local()
    };
    let url = format!("http://hooks.example.com:{}/", receiver.port);
    assert_eq!(send(options, &url).await, Ok(answer(200)));
    let host = format!("host: hooks.example.com:{}", receiver.port);
    assert!(receiver.requests()[0].lines().any(|line| line == host));
}

#[tokio::test]
async fn a_name_with_one_address_that_is_not_allowed_is_not_connected_to() {
    let receiver = Receiver::start(Behaviour::answer("200 OK", "")).await;
    for mixed in [["127.0.0.1", "10.0.0.1"], ["169.254.169.254", "127.0.0.1"]] {
        let options = HttpSenderOptions {
            lookup: answers(&[&mixed]),
            ..local()
        };
        let url = format!("http://hooks.example.com:{}/", receiver.port);
        assert_eq!(send(options, &url).await, Err(AttemptError::AddressRefused));
    }
    let options = HttpSenderOptions {
        lookup: answers(&[&["127.0.0.1"]]),
        ..HttpSenderOptions::new(TargetPolicy::Public)
    };
    let answered = send(options, "https://hooks.example.com/").await;
    assert_eq!(answered, Err(AttemptError::AddressRefused));
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn an_answer_that_changes_is_judged_anew_for_each_connection() {
    let close = "200 OK\r\nconnection: close";
    let receiver = Receiver::start(Behaviour::answer(close, "seen")).await;
    let sender = HttpSender::new(HttpSenderOptions {
        lookup: answers(&[&["127.0.0.1"], &["10.0.0.1"], &["127.0.0.1"]]),
        ..local()
    })
    .unwrap();
    let url = format!("http://hooks.example.com:{}/", receiver.port);
    let refused = Err(AttemptError::AddressRefused);
    for expected in [Ok(answer(200)), refused, Ok(answer(200))] {
        assert_eq!(eventually(sender.send(request(&url))).await, expected);
    }
}

#[tokio::test]
async fn a_name_without_address_is_a_failed_connection() {
    let options = HttpSenderOptions {
        lookup: answers(&[]),
        ..local()
    };
    let answered = send(options, "http://hooks.example.com/").await;
    assert_eq!(answered, Err(AttemptError::Connection));
}
