// Three deliveries for the receivers of the documentation: a good one, the same again, and a forged
// one, each with the status that answers it.

use webhook_verify::Secret;

pub const BODY: &str = r#"{"id": "0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e", "type": "webhook.test",
    "createdAt": "2026-11-21T12:00:00.000Z", "data": {"message": "hello"}}"#;

pub fn secret() -> Secret {
    Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE").unwrap()
}

pub fn deliveries() -> [(String, u16); 3] {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(now.unwrap().as_secs()).unwrap();
    let signed = |body: &str| webhook_verify::sign(&[secret()], now, body.as_bytes()).unwrap();
    [(signed(BODY), 204), (signed(BODY), 204), (signed("{}"), 400)]
}
