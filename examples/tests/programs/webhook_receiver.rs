use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use webhook_verify::{SIGNATURE_HEADER, Secret, sign};

const SECRET: &str = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE";
const CREATED: &str = include_str!("../../../preauth-core/tests/wire/golden/event_created.json");
const TEST: &str = include_str!("../../../preauth-core/tests/wire/golden/event_test.json");

#[tokio::test]
async fn a_signed_event_is_accepted_once_and_confirmed_each_time() {
    let mut receiver = Receiver::start();
    assert_eq!(receiver.deliver(CREATED).await, 204);
    let printed = receiver.next_line();
    assert!(
        printed.starts_with("pre_authorization.created: operation "),
        "{printed}"
    );
    assert!(printed.ends_with(" is IN_PRE_AUTH"), "{printed}");

    assert_eq!(receiver.deliver(CREATED).await, 204);
    assert_eq!(receiver.next_line(), "pre_authorization.created again");

    let another_id = TEST.replace("-7c33-", "-7c34-");
    assert_eq!(receiver.deliver(&another_id).await, 204);
    assert_eq!(receiver.next_line(), "webhook.test");
}

#[tokio::test]
async fn a_body_with_another_signature_is_refused() {
    let mut receiver = Receiver::start();
    let signature = signature(CREATED);
    let changed = CREATED.replace("12", "13");
    assert_eq!(receiver.post(Some(signature), &changed).await, 400);
    assert!(receiver.next_line().starts_with("refused: "));

    assert_eq!(receiver.post(None, CREATED).await, 400);
    assert!(receiver.next_line().starts_with("refused: "));
}

#[tokio::test]
async fn a_newer_type_is_confirmed_and_an_unreadable_body_is_not() {
    let mut receiver = Receiver::start();
    let newer = TEST.replace("webhook.test", "contract.signed");
    assert_eq!(receiver.deliver(&newer).await, 204);
    assert_eq!(receiver.next_line(), "contract.signed");

    assert_eq!(receiver.deliver("no event").await, 500);
}

/// The program, on a port of its own; it ends with the test.
struct Receiver {
    process: Child,
    printed: BufReader<ChildStdout>,
    url: String,
}

impl Receiver {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_webhook_receiver"))
            .env("PREAUTH_WEBHOOK_SECRET", SECRET)
            .env("PREAUTH_RECEIVER_LISTEN", "127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
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
        // Only this machine is called: certificates and proxies of the system do not matter.
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
