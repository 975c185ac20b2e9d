// Three deliveries for the receivers of the documentation: a good one, the same again, and a forged
// one, each with the status that answers it. And what the service's `probe` finds.

use webhook_verify::Secret;

const SECRET: &str = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE";

pub const BODY: &str = r#"{"id": "0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e", "type": "webhook.test",
    "createdAt": "2026-11-21T12:00:00.000Z", "data": {"message": "hello"}}"#;

pub fn secret() -> Secret {
    Secret::parse(SECRET).unwrap()
}

pub fn deliveries() -> [(String, u16); 3] {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(now.unwrap().as_secs()).unwrap();
    let signed = |body: &str| webhook_verify::sign(&[secret()], now, body.as_bytes()).unwrap();
    [(signed(BODY), 204), (signed(BODY), 204), (signed("{}"), 400)]
}

pub fn listener() -> std::net::TcpListener {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

/// `preauth-server probe` finds no fault in the receiver that listens at `address`. PREAUTH_SERVER is the program, which
/// is no part of this crate: without it nothing is tried.
pub async fn passes_the_probe(address: std::net::SocketAddr) {
    let Ok(server) = std::env::var("PREAUTH_SERVER") else { return };
    let mut probe = std::process::Command::new(server);
    probe.arg("probe").arg(format!("http://{address}/webhooks")).env("WEBHOOK_SECRET", SECRET);
    let output = tokio::task::spawn_blocking(move || probe.output());
    let output = output.await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
