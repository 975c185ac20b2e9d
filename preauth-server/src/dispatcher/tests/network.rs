//! The sender on real sockets: what it sends, how much it reads, which peers it refuses.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::AttemptError;

use super::receiver::{Behaviour, Receiver};
use super::{answer, eventually};
use crate::dispatcher::{
    Answer, EndpointPolicy, EndpointValidator, HttpSender, HttpSenderOptions, Lookup, LookupError,
    Request, RetryAfter, Sender,
};

/// Answers look-ups from a list, each entry once, and then never again.
struct Answers(Mutex<VecDeque<Vec<IpAddr>>>);

#[async_trait]
impl Lookup for Answers {
    async fn addresses(&self, _name: &str) -> Result<Vec<IpAddr>, LookupError> {
        match self.0.lock().unwrap().pop_front() {
            Some(next) if next.is_empty() => Err(LookupError::NoAddress),
            Some(next) => Ok(next),
            None => Err(LookupError::unavailable("nobody is there")),
        }
    }
}

/// A sender whose look-ups have these answers.
fn resolving(policy: EndpointPolicy, answers: &[&[&str]]) -> HttpSenderOptions {
    let parsed = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let answers = Answers(Mutex::new(answers.iter().map(parsed).collect()));
    HttpSenderOptions::new(EndpointValidator::new(policy, Arc::new(answers)))
}

fn local() -> HttpSenderOptions {
    HttpSenderOptions::new(EndpointValidator::by_system(EndpointPolicy::sandbox()))
}

fn public() -> HttpSenderOptions {
    HttpSenderOptions::new(EndpointValidator::by_system(EndpointPolicy::public()))
}

/// Short timeouts, so that a test can wait for them.
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

// Contract: endpoint/no-key
#[tokio::test]
async fn the_request_is_exactly_that_of_the_contract() {
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
async fn a_slow_body_differs_from_an_ordinary_one_in_time_only() {
    let receiver = Receiver::start(Behaviour::answer("204 No Content", "")).await;
    let slow = HttpSenderOptions {
        piece_pause: Some(Duration::from_millis(1)),
        ..local()
    };
    for options in [local(), slow] {
        assert_eq!(send(options, &receiver.url()).await.unwrap().status, 204);
    }
    let requests = receiver.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
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

// Contract: endpoint/redirects
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
    let receiver = Receiver::start(Behaviour::Endless(head, b"x".repeat(4096))).await;
    let answered = send(local(), &receiver.url()).await.unwrap();
    assert_eq!((answered.status, answered.body), (200, vec![b'x'; 1024]));
}

#[tokio::test]
async fn interim_answers_are_passed_over_but_not_without_an_end() {
    let hints = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n";
    let beginning = format!("{hints}{hints}HTTP/1.1 204 No Content\r\n\r\n");
    let receiver = Receiver::start(Behaviour::Answer(beginning.into())).await;
    assert_eq!(send(local(), &receiver.url()).await.unwrap().status, 204);
    let endless = Behaviour::Endless(Vec::new(), hints.repeat(100).into());
    let receiver = Receiver::start(endless).await;
    let answered = send(local(), &receiver.url()).await;
    assert_eq!(answered, Err(AttemptError::AnswerTooLarge));
}

#[tokio::test]
async fn the_extensions_of_chunks_are_bounded_too() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("1;{}\r\nx\r\n", "e".repeat(4096));
    let endless = Behaviour::Endless(head.into(), chunk.into());
    let receiver = Receiver::start(endless).await;
    let answered = send(local(), &receiver.url()).await.unwrap();
    assert_eq!(answered.status, 200);
    assert!(answered.body.len() < 100, "{}", answered.body.len());
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_malformed() {
    let behaviour = Behaviour::Answer(b"220 mail.example.com ESMTP\r\n".to_vec());
    let receiver = Receiver::start(behaviour).await;
    let answered = send(local(), &receiver.url()).await;
    assert_eq!(answered, Err(AttemptError::AnswerMalformed));
}

#[tokio::test]
async fn a_body_that_stalls_is_cut_and_the_status_counts() {
    let beginning = b"HTTP/1.1 500 x\r\ncontent-length: 9\r\n\r\nbroken".to_vec();
    let receiver = Receiver::start(Behaviour::Stall(beginning)).await;
    let answered = send(hasty(), &receiver.url()).await.unwrap();
    assert_eq!((answered.status, answered.body), (500, b"broken".to_vec()));
}

// Contract: delivery/10-seconds
#[tokio::test]
async fn a_receiver_that_never_answers_times_out() {
    for beginning in ["", "HTTP/1.1 200 OK\r\nx-slow: "] {
        let receiver = Receiver::start(Behaviour::Stall(beginning.into())).await;
        let answered = send(hasty(), &receiver.url()).await;
        assert_eq!(answered, Err(AttemptError::TimedOut), "{beginning}");
    }
}

// Contract: delivery/10-seconds limit/answer-to-a-webhook
#[test]
fn a_receiver_has_the_ten_seconds_of_the_contract() {
    let options = public();
    assert_eq!(options.exchange, Duration::from_secs(10));
}

#[tokio::test]
async fn a_connection_that_breaks_is_no_answer() {
    let receiver = Receiver::start(Behaviour::HangUp).await;
    let answered = send(local(), &receiver.url()).await;
    assert_eq!(answered, Err(AttemptError::Connection));
    let url = receiver.url();
    drop(receiver);
    // The listener is closed once its task has ended.
    eventually(async {
        while send(local(), &url).await != Err(AttemptError::ConnectionRefused) {}
    })
    .await;
}

#[tokio::test]
async fn a_head_of_more_than_64_kib_is_no_answer() {
    let head = format!("200 OK\r\nx-long: {}", "a".repeat(70_000));
    let receiver = Receiver::start(Behaviour::answer(&head, "")).await;
    let answered = send(local(), &receiver.url()).await;
    assert_eq!(answered, Err(AttemptError::AnswerTooLarge));
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

// Contract: endpoint/public-address
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
        let answered = send(public(), &url).await;
        assert_eq!(answered, Err(AttemptError::AddressRefused), "{url}");
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn addresses_refused_at_registration_are_refused_at_sending_too() {
    let vectors = include_str!("../../../tests/vectors/ssrf_urls.csv");
    let refused = vectors.lines().filter(|line| line.ends_with(",refuse"));
    let mut validated = 0;
    for line in refused {
        let [url, addresses, _] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let answer: Vec<_> = match addresses {
            "" => vec!["93.184.215.14"],
            "NXDOMAIN" => Vec::new(),
            addresses => addresses.split(' ').collect(),
        };
        let options = resolving(EndpointPolicy::public(), &[&answer]);
        let error = send(options, url).await.unwrap_err();
        let is_refused = matches!(
            error,
            AttemptError::UrlRefused | AttemptError::AddressRefused | AttemptError::NameUnknown
        );
        assert!(is_refused, "{line}: {error}");
        validated += 1;
    }
    assert_eq!(validated, 78);
}

#[tokio::test]
async fn a_name_goes_to_its_validated_address_and_stays_in_the_host_header() {
    let receiver = Receiver::start(Behaviour::answer("200 OK", "seen")).await;
    let options = resolving(EndpointPolicy::sandbox(), &[&["127.0.0.1"]]);
    let url = format!("http://hooks.example.com:{}/", receiver.port);
    assert_eq!(send(options, &url).await, Ok(answer(200)));
    let host = format!("host: hooks.example.com:{}", receiver.port);
    assert!(receiver.requests()[0].lines().any(|line| line == host));
}

#[tokio::test]
async fn a_name_with_one_address_that_is_not_allowed_is_not_connected_to() {
    let receiver = Receiver::start(Behaviour::answer("200 OK", "")).await;
    for mixed in [["127.0.0.1", "10.0.0.1"], ["169.254.169.254", "127.0.0.1"]] {
        let options = resolving(EndpointPolicy::sandbox(), &[&mixed]);
        let url = format!("http://hooks.example.com:{}/", receiver.port);
        assert_eq!(send(options, &url).await, Err(AttemptError::AddressRefused));
    }
    let options = resolving(EndpointPolicy::public(), &[&["127.0.0.1"]]);
    let answered = send(options, "https://hooks.example.com/").await;
    assert_eq!(answered, Err(AttemptError::AddressRefused));
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn an_answer_that_changes_is_validated_anew_for_each_connection() {
    let close = "200 OK\r\nconnection: close";
    let receiver = Receiver::start(Behaviour::answer(close, "seen")).await;
    let answers: &[&[&str]] = &[&["127.0.0.1"], &["10.0.0.1"], &["127.0.0.1"]];
    let sender = HttpSender::new(resolving(EndpointPolicy::sandbox(), answers)).unwrap();
    let url = format!("http://hooks.example.com:{}/", receiver.port);
    let refused = Err(AttemptError::AddressRefused);
    for expected in [Ok(answer(200)), refused, Ok(answer(200))] {
        assert_eq!(eventually(sender.send(request(&url))).await, expected);
    }
}

#[tokio::test]
async fn a_name_without_address_and_a_resolver_without_answer_are_two_things() {
    let sender = HttpSender::new(resolving(EndpointPolicy::sandbox(), &[&[]])).unwrap();
    let send = async || {
        let request = request("http://hooks.example.com/");
        eventually(sender.send(request)).await
    };
    assert_eq!(send().await, Err(AttemptError::NameUnknown));
    assert_eq!(send().await, Err(AttemptError::LookupFailed));
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_is_silent_uses_up_the_time_for_a_connection_and_no_more() {
    struct Silent;

    #[async_trait]
    impl Lookup for Silent {
        async fn addresses(&self, _name: &str) -> Result<Vec<IpAddr>, LookupError> {
            std::future::pending().await
        }
    }

    let validator = EndpointValidator::new(EndpointPolicy::public(), Arc::new(Silent));
    let sender = HttpSender::new(HttpSenderOptions::new(validator)).unwrap();
    let began = tokio::time::Instant::now();
    let answered = sender.send(request("https://hooks.example.com/")).await;
    assert_eq!(answered, Err(AttemptError::LookupTimedOut));
    assert_eq!(began.elapsed(), Duration::from_secs(3));
}

#[tokio::test]
async fn a_connection_that_its_receiver_has_closed_is_opened_anew() {
    let receiver = Receiver::start(Behaviour::answer("200 OK", "seen")).await;
    let sender = HttpSender::new(local()).unwrap();
    for connections in 1..=3 {
        let answered = eventually(sender.send(request(&receiver.url()))).await;
        assert_eq!(
            (answered, receiver.connections()),
            (Ok(answer(200)), connections)
        );
        receiver.hang_up();
    }
}
