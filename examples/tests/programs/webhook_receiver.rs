use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use preauth_client::value::Money;
use preauth_client::{Client, NewPreAuthorization};
use preauth_server::testing::TestServer;
use serde_json::json;
use webhook_verify::{SIGNATURE_HEADER, Secret, sign};
use wiremock::matchers::{header, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// Nothing listens there, because no request is expected.
const NOWHERE: &str = "http://127.0.0.1:1";
const SECRET: &str = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE";
const CREATED: &str = include_str!("../../../preauth-core/tests/wire/golden/event_created.json");
const TEST: &str = include_str!("../../../preauth-core/tests/wire/golden/event_test.json");

// Contract: delivery/again-out-of-order
#[tokio::test]
async fn a_signed_event_is_acted_on_once_by_what_the_operation_is_now() {
    let service = service(1).await;
    let mut receiver = Receiver::start(&service.uri());
    assert_eq!(receiver.deliver(CREATED).await, 204);
    assert_eq!(
        receiver.next_line(),
        "pre_authorization.created: operation 1042 is TO_APPROVE"
    );

    assert_eq!(receiver.deliver(CREATED).await, 204);
    assert_eq!(receiver.next_line(), "pre_authorization.created again");

    let another_id = TEST.replace("-7c33-", "-7c34-");
    assert_eq!(receiver.deliver(&another_id).await, 204);
    assert_eq!(receiver.next_line(), "webhook.test");
}

// Contract: delivery/400
#[tokio::test]
async fn a_body_with_another_signature_is_refused() {
    let mut receiver = Receiver::start(NOWHERE);
    let signature = signature(CREATED);
    let changed = CREATED.replace("12", "13");
    assert_eq!(receiver.post(Some(signature), &changed).await, 400);
    assert!(receiver.next_line().starts_with("refused: "));

    assert_eq!(receiver.post(None, CREATED).await, 400);
    assert!(receiver.next_line().starts_with("refused: "));
}

#[tokio::test]
async fn a_newer_type_is_confirmed_and_an_unreadable_body_is_not() {
    let mut receiver = Receiver::start(NOWHERE);
    let newer = TEST.replace("webhook.test", "contract.signed");
    assert_eq!(receiver.deliver(&newer).await, 204);
    assert_eq!(receiver.next_line(), "contract.signed");

    assert_eq!(receiver.deliver("no event").await, 500);
}

#[tokio::test]
async fn an_event_whose_operation_cannot_be_read_is_acted_on_when_it_comes_again() {
    let service = MockServer::start().await;
    let mut receiver = Receiver::start(&service.uri());
    assert_eq!(receiver.deliver(CREATED).await, 500);
    let said = receiver.next_line();
    assert!(said.starts_with("not done: "), "{said}");
    operation(1).mount(&service).await;
    assert_eq!(receiver.deliver(CREATED).await, 204);
    assert!(
        receiver
            .next_line()
            .ends_with("operation 1042 is TO_APPROVE")
    );
}

#[tokio::test]
async fn the_real_service_sends_events_and_answers_requests() {
    // The receiver's address must be known before the service starts, which sends to it.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}/webhooks");
    let server = TestServer::builder().webhook_url(url).start().unwrap();
    let keys = server.credentials();
    let program = Receiver::program(server.base_url())
        .env("PREAUTH_API_KEY", server.api_key())
        .env("PREAUTH_WEBHOOK_SECRET", &keys.webhook_secret)
        .env("PREAUTH_RECEIVER_LISTEN", format!("127.0.0.1:{port}"))
        .spawn();
    let mut receiver = Receiver::of(program.unwrap());
    let client = Client::new(server.base_url(), server.api_key()).unwrap();
    let offer = NewPreAuthorization::new(
        keys.supplier_cnpj.parse().unwrap(),
        "financeiro@fornecedor.example.com".parse().unwrap(),
        Money::parse("1234.56").unwrap(),
        server.days_ahead(60),
        "NF-1".parse().unwrap(),
    );
    let id = client.create(&offer).await.unwrap().id;
    assert_eq!(
        receiver.next_line(),
        format!("pre_authorization.created: operation {id} is IN_PRE_AUTH")
    );
    client.cancel(id).await.unwrap();
    assert_eq!(
        receiver.next_line(),
        format!("pre_authorization.revoked: operation {id} is REPROVED")
    );
}

/// A service that answers `times` requests for operation 1042, whose state is newer than the
/// event's.
async fn service(times: u64) -> MockServer {
    let service = MockServer::start().await;
    operation(times).mount(&service).await;
    service
}

fn operation(times: u64) -> Mock {
    let operation = json!({
        "id": 1042,
        "status": "TO_APPROVE",
        "payer": {"cnpj": "11222333000181", "name": "Construtora Exemplo S.A."},
        "supplier": {"cnpj": "11444777000161", "name": "Fornecedor Exemplo Ltda."},
        "invoice": {"amount": 12500.5, "dueDate": "2026-12-21", "number": "NF-1"},
        "createdAt": "2026-11-21T12:00:00.000Z"
    });
    Mock::given(path("/api/integration/v1/pre-authorizations/1042"))
        .and(header("authorization", "Bearer service_sk_test"))
        .respond_with(ResponseTemplate::new(200).set_body_json(operation))
        .expect(times)
}

/// The program, on a port of its own; it stops with the test.
struct Receiver {
    process: Child,
    printed: BufReader<ChildStdout>,
    url: String,
}

impl Receiver {
    fn start(base_url: &str) -> Self {
        Self::of(Self::program(base_url).spawn().unwrap())
    }

    fn program(base_url: &str) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_webhook_receiver"));
        program
            .env("PREAUTH_WEBHOOK_SECRET", SECRET)
            .env("PREAUTH_BASE_URL", base_url)
            .env("PREAUTH_API_KEY", "service_sk_test")
            .env("PREAUTH_RECEIVER_LISTEN", "127.0.0.1:0")
            .stdout(Stdio::piped());
        program
    }

    fn of(mut process: Child) -> Self {
        let printed = BufReader::new(process.stdout.take().unwrap());
        let mut receiver = Self {
            process,
            printed,
            url: String::new(),
        };
        let greeting = receiver.next_line();
        receiver.url = greeting.replace("waiting at ", "");
        receiver
    }

    async fn deliver(&self, body: &str) -> u16 {
        self.post(Some(signature(body)), body).await
    }

    async fn post(&self, signature: Option<String>, body: &str) -> u16 {
        // Only this machine is called: the system's certificates and proxies do not matter.
        let builder = reqwest::Client::builder().tls_certs_only([]).no_proxy();
        let mut request = builder
            .build()
            .unwrap()
            .post(&self.url)
            .body(body.to_owned());
        if let Some(signature) = signature {
            request = request.header(SIGNATURE_HEADER, signature);
        }
        request.send().await.unwrap().status().as_u16()
    }

    fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.printed.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn signature(body: &str) -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test reads the clock too"
    )]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    sign(&[Secret::parse(SECRET).unwrap()], now, body.as_bytes()).unwrap()
}
