//! The fixed vectors, computed outside this crate and shared with other languages.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::time::Duration;

use serde::Deserialize;
use webhook_verify::{Secret, Verifier, VerifyError};

#[derive(Deserialize)]
struct Document {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    secrets: Vec<String>,
    header: Option<String>,
    body_hex: String,
    now_unix_seconds: i64,
    tolerance_seconds: u64,
    outcome: String,
}

impl Case {
    fn verifier(&self) -> Verifier {
        let mut secrets = self.secrets.iter().map(|s| Secret::parse(s).unwrap());
        let first = Verifier::new(secrets.next().unwrap());
        secrets
            .fold(first, Verifier::also_accepting)
            .with_tolerance(Duration::from_secs(self.tolerance_seconds))
    }

    fn body(&self) -> Vec<u8> {
        let mut body = vec![0; self.body_hex.len() / 2];
        hex::decode_to_slice(&self.body_hex, &mut body).unwrap();
        body
    }
}

#[test]
fn every_vector_has_its_outcome() {
    let document: Document = serde_json::from_str(include_str!("../vectors.json")).unwrap();
    assert!(document.cases.len() > 50);
    for case in document.cases {
        let header = case.header.as_deref().map(str::as_bytes);
        let body = case.body();
        let outcome = match case.verifier().verify(header, &body, case.now_unix_seconds) {
            Ok(verified) => {
                assert_eq!(verified.body(), body, "{}", case.name);
                "accepted"
            }
            Err(VerifyError::MissingHeader) => "missing_header",
            Err(VerifyError::Malformed(_)) => "malformed",
            Err(VerifyError::TooOld { .. }) => "too_old",
            Err(VerifyError::TooNew { .. }) => "too_new",
            Err(VerifyError::NoMatch) => "no_match",
        };
        assert_eq!(outcome, case.outcome, "{}", case.name);
    }
}
