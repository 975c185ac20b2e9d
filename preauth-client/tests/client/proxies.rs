//! The way to the service: proxies and certificates.

use std::sync::Arc;

use preauth_client::{Client, ClientBuilder, ConfigError, ErrorKind, RetryPolicy};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use wiremock::MockServer;

use crate::{KEY, answering, id, operation, quick, requests, success};

#[tokio::test]
async fn everything_goes_through_the_proxy_that_is_set() {
    let proxy = MockServer::start().await;
    answering(&proxy, success(200), None).await;
    let with_password = proxy.uri().replace("http://", "http://erp:hunter2@");
    let client = quick("http://api.example.com")
        .allow_plain_http(true)
        .proxy(with_password);
    let shown = format!("{client:?}");
    let client = client.build().unwrap();
    client.get(id()).await.unwrap();
    let sent = requests(&proxy).await;
    assert_eq!(sent[0].url.host_str(), Some("api.example.com"));
    // erp:hunter2
    assert_eq!(
        sent[0].headers["proxy-authorization"],
        "Basic ZXJwOmh1bnRlcjI="
    );
    for text in [shown, format!("{client:?}")] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn a_wrong_proxy_and_what_is_no_certificate_are_refused_without_being_repeated() {
    let builder = || Client::builder("https://api.example.com", KEY);
    let refused = |builder: ClientBuilder| builder.build().unwrap_err();
    let error = refused(builder().proxy("http://u:hunter2@:x"));
    assert!(matches!(error, ConfigError::Proxy), "{error:?}");
    assert!(!format!("{error:?}").contains("hunter2"));
    let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----";
    for pem in ["", "no certificate", broken] {
        let error = refused(builder().add_root_certificates(pem));
        assert!(matches!(error, ConfigError::RootCertificates), "{pem}");
    }
}

#[tokio::test]
async fn a_service_with_a_certificate_of_an_added_root_is_trusted_and_of_another_is_not() {
    let (base_url, root) = tls_service().await;
    let builder = || Client::builder(&base_url, KEY).retry(RetryPolicy::never());
    for only in [false, true] {
        let trusting = builder()
            .add_root_certificates(&root)
            .only_added_roots(only);
        let read = trusting.build().unwrap().get(id()).await.unwrap();
        assert_eq!(read.id, id());
    }

    let (_, another) = authority();
    let distrusting = builder()
        .add_root_certificates(another)
        .only_added_roots(true);
    let error = distrusting.build().unwrap().get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert!(format!("{error:?}").contains("certificate"), "{error:?}");
}

/// An authority of one's own, and its certificate as a text.
fn authority() -> (CertifiedIssuer<'static, KeyPair>, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let pem = issuer.pem();
    (issuer, pem)
}

/// A service on `localhost` that answers every connection with the same operation, and its root.
async fn tls_service() -> (String, String) {
    let (issuer, root) = authority();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            // A client that does not trust it hangs up.
            let Ok(mut connection) = acceptor.accept(connection).await else {
                continue;
            };
            let _ = connection.read(&mut [0; 4096]).await.unwrap();
            let body = operation("IN_PRE_AUTH").to_string();
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            connection.write_all(head.as_bytes()).await.unwrap();
            connection.write_all(body.as_bytes()).await.unwrap();
            let _ = connection.shutdown().await;
        }
    });
    (format!("https://localhost:{port}"), root)
}
