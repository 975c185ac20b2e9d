//! TLS, names, redirects and proxies: which peers the server accepts.

use tempfile::TempDir;
use test_support::{Authority, Backend, on_each_database};

use crate::dns::at;
use crate::house::{House, THIS_MACHINE};
use crate::receiver::{Manner, NO_CONTENT, Receiver};

on_each_database! {
    a_receiver_is_trusted_by_its_certificate_and_by_nothing_else,
}

const NAME: &str = "hooks.example.com";

/// A server that trusts an authority beside the platform's, and the authority.
async fn trusting(backend: Backend, more: &[(&str, String)]) -> (House, Authority, TempDir) {
    let authority = Authority::new();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("roots.pem");
    authority.write(&file);
    let mut settings = vec![
        ("PREAUTH_WEBHOOKS_ALLOWED_NETWORKS", THIS_MACHINE.to_owned()),
        (
            "PREAUTH_WEBHOOKS_EXTRA_ROOTS",
            file.to_str().unwrap().to_owned(),
        ),
    ];
    settings.extend_from_slice(more);
    let house = House::start(backend, &settings).await;
    house.dns.set(NAME, [at(&["127.0.0.1"])]);
    (house, authority, folder)
}

// Contract: endpoint/HTTPS
async fn a_receiver_is_trusted_by_its_certificate_and_by_nothing_else(backend: Backend) {
    let (house, authority, _folder) = trusting(backend, &[]).await;
    let stranger = Authority::new();
    let (answers, greets) = (
        NO_CONTENT,
        Manner::Greets(b"220 mail.example.com ESMTP\r\n"),
    );
    for (proof, manner, outcome) in [
        (
            Some(authority.proves("other.example.com")),
            &answers,
            "CERTIFICATE_NAME",
        ),
        (
            Some(authority.proves("127.0.0.1")),
            &answers,
            "CERTIFICATE_NAME",
        ),
        (
            Some(authority.proved(NAME)),
            &answers,
            "CERTIFICATE_EXPIRED",
        ),
        (
            Some(stranger.proves(NAME)),
            &answers,
            "CERTIFICATE_UNTRUSTED",
        ),
        (None, &greets, "NOT_TLS"),
        // This listener waits for a plain HTTP request.
        (None, &answers, "TLS_TIMED_OUT"),
    ] {
        let receiver = Receiver::start("127.0.0.1:0", proof, manner.clone()).await;
        house.register(&receiver.url("https", NAME)).await;
        assert_eq!(house.outcome().await, outcome);
        assert!(receiver.received().requests.is_empty(), "{outcome}");
    }
    let receiver = Receiver::start("127.0.0.1:0", Some(authority.proves(NAME)), NO_CONTENT).await;
    house.register(&receiver.url("https", NAME)).await;
    assert_eq!(house.outcome().await, "204");
    let seen = receiver.received();
    // On a slow machine refused connections may have been retried by now.
    let mut names = seen.names.iter();
    assert!(names.all(|name| name.as_deref() == Some(NAME)));
    let host = format!("host: {NAME}:{}", receiver.address.port());
    assert!(seen.requests[0].lines().any(|line| line == host));
}

/// Outdated receivers: an alert, or a hello of TLS 1.0 or 1.1.
#[tokio::test]
async fn old_tls_and_no_tls_have_their_own_error_codes() {
    let (house, ..) = trusting(Backend::Sqlite, &[]).await;
    let (alert, refused) = (b"\x15\x03\x01\0\x02\x02\x46", b"\x15\x03\x03\0\x02\x02\x28");
    for (greeting, outcome) in [
        (alert.to_vec(), "TLS_VERSION"),
        (hello(0), "TLS_VERSION"),
        (hello(1), "TLS_VERSION"),
        // An allowed version with a refused cipher suite.
        (hello(2), "TLS"),
        (refused.to_vec(), "TLS"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "NOT_TLS"),
        (Vec::new(), "TLS"),
    ] {
        let manner = Manner::Greets(greeting.leak());
        let receiver = Receiver::start("127.0.0.1:0", None, manner).await;
        house.register(&receiver.url("https", NAME)).await;
        assert_eq!(house.outcome().await, outcome);
    }
}

/// A `ServerHello` of TLS 1.`minor`, with a cipher suite of that version.
fn hello(minor: u8) -> Vec<u8> {
    let version = [3, minor + 1];
    let cipher_suite = [0, 0x2f];
    let body = [&version[..], &[7; 32], &[0], &cipher_suite, &[0]].concat();
    let length = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
    let message = [&[2, 0, 0, length(&body)][..], &body].concat();
    let head = [22, version[0], version[1], 0, length(&message)];
    [&head[..], &message].concat()
}

#[tokio::test]
async fn an_address_in_place_of_a_name_needs_a_certificate_too() {
    let (house, authority, _folder) = trusting(Backend::Sqlite, &[]).await;
    for (proof, outcome) in [("127.0.0.1", "204"), (NAME, "CERTIFICATE_NAME")] {
        let proof = Some(authority.proves(proof));
        let receiver = Receiver::start("127.0.0.1:0", proof, NO_CONTENT).await;
        house.register(&receiver.url("https", "127.0.0.1")).await;
        assert_eq!(house.outcome().await, outcome);
    }
}

#[tokio::test]
async fn without_the_extra_roots_their_certificates_prove_nothing() {
    let house = House::on_this_machine().await;
    house.dns.set(NAME, [at(&["127.0.0.1"])]);
    let proof = Some(Authority::new().proves(NAME));
    let receiver = Receiver::start("127.0.0.1:0", proof, NO_CONTENT).await;
    house.register(&receiver.url("https", NAME)).await;
    assert_eq!(house.outcome().await, "CERTIFICATE_UNTRUSTED");
}

// Contract: endpoint/redirects
#[tokio::test]
async fn a_redirect_is_a_failure_and_leads_nowhere() {
    let house = House::on_this_machine().await;
    let trap = Receiver::start("127.0.0.1:0", None, NO_CONTENT).await;
    let location = trap.url("http", "127.0.0.1");
    let redirect = format!("HTTP/1.1 307 x\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    let manner = Manner::Answers(redirect.leak());
    let receiver = Receiver::start("127.0.0.2:0", None, manner).await;
    house.register(&receiver.url("http", "127.0.0.2")).await;
    let attempt = house.attempt().await;
    assert_eq!(
        (attempt["httpStatus"].as_u64(), attempt["error"].as_str()),
        (Some(307), Some("STATUS"))
    );
    assert_eq!(receiver.received().requests.len(), 1);
    assert_eq!(trap.received().connections, 0);
}

#[tokio::test]
async fn proxies_of_the_environment_are_not_asked() {
    let trap = Receiver::start("127.0.0.1:0", None, NO_CONTENT).await;
    let proxy = format!("http://{}", trap.address);
    let variables = [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ];
    let proxies = variables.map(|name| (name, proxy.clone()));
    let (house, authority, _folder) = trusting(Backend::Sqlite, &proxies).await;
    let proof = Some(authority.proves(NAME));
    let tls = Receiver::start("127.0.0.1:0", proof, NO_CONTENT).await;
    let plain = Receiver::start("127.0.0.1:0", None, NO_CONTENT).await;
    for url in [tls.url("https", NAME), plain.url("http", "127.0.0.1")] {
        house.register(&url).await;
        assert_eq!(house.outcome().await, "204", "{url}");
    }
    assert_eq!(trap.received().connections, 0);
}
