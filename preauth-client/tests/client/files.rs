use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::stream;
use preauth_client::value::Money;
use preauth_client::{ErrorKind, FileType, InvoiceFile, NewPreAuthorization, Timing};
use serde_json::{Value, json};
use wiremock::{MockServer, Request, Respond, ResponseTemplate};

use crate::{answering, client, offer, quick, refusal, requests, success};

const PDF: &[u8] = b"%PDF-1.7\r\n--not a boundary\r\n%%EOF";

fn pdf() -> InvoiceFile {
    InvoiceFile::from_bytes("NF-1.pdf", FileType::Pdf, PDF).unwrap()
}

fn streamed(chunks: Vec<io::Result<&'static [u8]>>) -> NewPreAuthorization {
    let stream = stream::iter(chunks);
    offer().file(InvoiceFile::from_stream("NF-1.pdf", FileType::Pdf, stream).unwrap())
}

/// The parts of a form, each as its head and its content.
fn parts(request: &Request) -> Vec<(String, Vec<u8>)> {
    let content_type = request.headers["content-type"].to_str().unwrap();
    let boundary = content_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    let (delimiter, end) = (
        format!("\r\n--{boundary}\r\n"),
        format!("\r\n--{boundary}--\r\n"),
    );
    let body = [b"\r\n", &request.body[..]].concat();
    let body = body.strip_suffix(end.as_bytes()).unwrap();
    split(body, delimiter.as_bytes())[1..]
        .iter()
        .map(|part| {
            let [head, content] = &split(part, b"\r\n\r\n")[..] else {
                panic!("a part has a head and a content")
            };
            (String::from_utf8(head.clone()).unwrap(), content.clone())
        })
        .collect()
}

fn split(mut bytes: &[u8], by: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while let Some(at) = bytes.windows(by.len()).position(|window| window == by) {
        let (piece, rest) = bytes.split_at(at);
        pieces.push(piece.to_vec());
        bytes = &rest[by.len()..];
    }
    pieces.push(bytes.to_vec());
    pieces
}

#[tokio::test]
async fn an_offer_with_a_file_is_a_form() {
    let server = MockServer::start().await;
    answering(&server, success(201), None).await;
    let name = r#"a "b" \ç.xml"#;
    let file = InvoiceFile::from_bytes(name, FileType::Xml, "<nfe/>").unwrap();
    let offer = offer()
        .withheld_tax(Money::parse("10.50").unwrap())
        .external_reference("pedido 1/é".parse().unwrap())
        .file(file);
    let created = client(&server).create(&offer).await.unwrap();

    let sent = &requests(&server).await[0];
    let key = created.idempotency_key().unwrap();
    assert_eq!(sent.headers["idempotency-key"], key.as_str());
    assert_eq!(
        sent.headers["content-length"],
        sent.body.len().to_string().as_str()
    );
    let parts = parts(sent);
    let heads: Vec<_> = parts.iter().map(|(head, _)| head.as_str()).collect();
    let expected = [
        r#"content-disposition: form-data; name="supplier""#,
        r#"content-disposition: form-data; name="invoice""#,
        r#"content-disposition: form-data; name="externalReference""#,
        "content-disposition: form-data; name=\"invoiceFile\"; \
         filename=\"a \\\"b\\\" \\\\ç.xml\"\r\ncontent-type: application/xml",
    ];
    assert_eq!(heads, expected);
    let supplier: Value = serde_json::from_slice(&parts[0].1).unwrap();
    let email = "financeiro@fornecedor.example.com";
    assert_eq!(supplier, json!({"cnpj": "12ABC34501DE35", "email": email}));
    let invoice: Value = serde_json::from_slice(&parts[1].1).unwrap();
    let expected = json!({
        "amount": 1234.56, "dueDate": "2026-12-21", "number": "NF-1", "withheldTaxAmount": 10.5
    });
    assert_eq!(invoice, expected);
    assert_eq!(parts[2].1, "pedido 1/é".as_bytes());
    assert_eq!(parts[3].1, b"<nfe/>");
}

#[tokio::test]
async fn every_attempt_sends_the_same_form_even_if_the_file_changes_on_disk() {
    struct Changing(std::path::PathBuf);
    impl Respond for Changing {
        fn respond(&self, _: &Request) -> ResponseTemplate {
            std::fs::write(&self.0, "%PDF-2.0 another").unwrap();
            refusal(503, "SERVICE_UNAVAILABLE")
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("NF-1.pdf");
    std::fs::write(&path, PDF).unwrap();
    let server = MockServer::start().await;
    let mock = wiremock::Mock::given(wiremock::matchers::any());
    let mock = mock.respond_with(Changing(path.clone()));
    mock.up_to_n_times(2).mount(&server).await;
    answering(&server, success(201), None).await;
    let offer = offer().file(InvoiceFile::from_path(&path).unwrap());
    let created = client(&server).create(&offer).await.unwrap();
    assert_eq!(created.attempts(), 3);
    let sent = requests(&server).await;
    assert_eq!(parts(&sent[0]).last().unwrap().1, PDF);
    for again in &sent[1..] {
        assert_eq!(again.body, sent[0].body);
        for name in ["content-type", "idempotency-key"] {
            assert_eq!(again.headers[name], sent[0].headers[name]);
        }
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_or_is_too_large_fails_before_anything_is_sent() {
    let server = MockServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.pdf");
    let file = std::fs::File::create(&large).unwrap();
    file.set_len(InvoiceFile::MAX_BYTES + 1).unwrap();
    let missing = folder.path().join("missing.xml");
    for (path, cause) in [
        (
            large,
            "the file has 10485761 bytes, the maximum is 10485760",
        ),
        (missing, "No such file or directory"),
    ] {
        let offer = offer().file(InvoiceFile::from_path(path).unwrap());
        let error = client(&server).create(&offer).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.is_retryable()),
            (ErrorKind::File, false)
        );
        let shown = format!("{error:?}");
        assert!(
            shown.starts_with("the invoice file could not be read: "),
            "{shown}"
        );
        assert!(shown.contains(cause), "{shown}");
    }
    assert!(requests(&server).await.is_empty());
}

#[tokio::test]
async fn a_stream_is_sent_as_it_comes() {
    let server = MockServer::start().await;
    answering(&server, success(201), None).await;
    let offer = streamed(vec![Ok(&PDF[..9]), Ok(b""), Ok(&PDF[9..])]);
    client(&server).create(&offer).await.unwrap();
    let sent = &requests(&server).await[0];
    assert_eq!(sent.headers["transfer-encoding"], "chunked");
    assert_eq!(parts(sent).last().unwrap().1, PDF);
}

#[tokio::test]
async fn a_stream_that_was_sent_is_not_sent_again() {
    let server = MockServer::start().await;
    answering(&server, refusal(503, "SERVICE_UNAVAILABLE"), None).await;
    let offer = streamed(vec![Ok(PDF)]);
    let client = client(&server);
    let error = client.create(&offer).await.unwrap_err();
    assert_eq!((error.status(), error.attempts()), (Some(503), 1));
    // A fresh stream under the same key may.
    assert!(error.is_retryable() && error.idempotency_key().is_some());

    let error = client.create(&offer).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(format!("{error:?}").ends_with("the stream has been read before"));
    assert_eq!(requests(&server).await.len(), 1);
}

#[tokio::test]
async fn a_stream_of_which_nothing_was_sent_is_tried_again() {
    /// Opens the service for as long as the client waits.
    #[derive(Debug)]
    struct Opening(std::net::SocketAddr, Mutex<Option<MockServer>>);
    impl Timing for Opening {
        fn now(&self) -> Duration {
            Duration::ZERO
        }
        fn sleep(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
            Box::pin(async {
                let listener = TcpListener::bind(self.0).unwrap();
                let server = MockServer::builder().listener(listener).start().await;
                answering(&server, success(201), None).await;
                *self.1.lock().unwrap() = Some(server);
            })
        }
        fn random(&self) -> u64 {
            0
        }
    }
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let opening = Opening(address, Mutex::default());
    let client = quick(&format!("http://{address}")).timing(opening);
    let offer = streamed(vec![Ok(PDF)]);
    let created = client.build().unwrap().create(&offer).await.unwrap();
    assert_eq!(created.attempts(), 2);
}

#[tokio::test]
async fn a_stream_that_fails_is_the_callers_own_failure() {
    let server = MockServer::start().await;
    answering(&server, success(201), None).await;
    let broken = Err(io::Error::other("the scanner is on fire"));
    let offer = streamed(vec![Ok(b"%PDF-"), broken]);
    let error = client(&server).create(&offer).await.unwrap_err();
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::File, 1));
    assert!(
        format!("{error:?}").ends_with("the scanner is on fire"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_refusal_of_the_file_is_a_refusal_like_any_other() {
    let server = MockServer::start().await;
    answering(&server, refusal(422, "INVALID_FILE_TYPE"), None).await;
    let error = client(&server)
        .create(&offer().file(pdf()))
        .await
        .unwrap_err();
    assert_eq!(error.code().unwrap().as_str(), "INVALID_FILE_TYPE");
}
