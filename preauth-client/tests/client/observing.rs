use std::sync::{Arc, Mutex};

use preauth_client::Call;
use tracing_subscriber::fmt::MakeWriter;
use wiremock::{MockServer, ResponseTemplate};

use crate::{KEY, answering, id, offer, quick, success};

/// One attempt as it was observed: call, number, status, request id, whether it failed, whether
/// another follows.
type Observed = (Call, u32, Option<u16>, Option<String>, bool, bool);

#[tokio::test]
async fn an_observer_hears_of_every_attempt() {
    let server = MockServer::start().await;
    let busy = ResponseTemplate::new(503).insert_header("x-request-id", "first");
    answering(&server, busy, Some(1)).await;
    answering(&server, success(201), None).await;
    let observed: Arc<Mutex<Vec<Observed>>> = Arc::default();
    let book = Arc::clone(&observed);
    let client = quick(&server.uri()).on_attempt(move |attempt| {
        book.lock().unwrap().push((
            attempt.call,
            attempt.number,
            attempt.status,
            attempt.request_id.map(str::to_owned),
            attempt.error.is_some(),
            attempt.retry_in.is_some(),
        ));
    });
    client.build().unwrap().create(&offer()).await.unwrap();
    let first = Some("first".to_owned());
    let expected = [
        (Call::Create, 1, Some(503), first, true, true),
        (Call::Create, 2, Some(201), None, false, false),
    ];
    assert_eq!(*observed.lock().unwrap(), expected);
}

#[tokio::test]
async fn the_log_has_failed_attempts_and_never_the_key() {
    let server = MockServer::start().await;
    answering(&server, ResponseTemplate::new(502), Some(1)).await;
    answering(&server, success(200), None).await;
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    let listening = tracing::subscriber::set_default(subscriber);
    let client = quick(&server.uri()).build().unwrap();
    client.get(id()).await.unwrap();
    drop(listening);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let line = text.lines().find(|line| line.contains("an attempt failed"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    for part in [
        r#"preauth_call{call="get" path="/api/integration/v1/pre-authorizations/1042"}"#,
        "number=1",
        "status 502",
    ] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    assert!(!text.contains(KEY), "{text}");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
