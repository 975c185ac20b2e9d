//! The fixed vectors, computed outside this crate and shared with other languages. `bare` runs this
//! file once more, without any feature.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::time::Duration;

use serde::Deserialize;
use webhook_verify::{Secret, SecretError, Verifier, VerifyError};

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
    fn outcome(&self) -> &'static str {
        // No verifier is made without a secret.
        let Ok(Some(verifier)) = self.verifier() else {
            return "bad_secret";
        };
        let header = self.header.as_deref().map(str::as_bytes);
        let body = self.body();
        match verifier.verify(header, &body, self.now_unix_seconds) {
            Ok(webhook) => {
                assert_eq!(webhook.body(), body, "{}", self.name);
                "accepted"
            }
            Err(VerifyError::MissingHeader) => "missing_header",
            Err(VerifyError::Malformed(_)) => "malformed",
            Err(VerifyError::TooOld { .. }) => "too_old",
            Err(VerifyError::TooNew { .. }) => "too_new",
            Err(VerifyError::NoMatch) => "no_match",
            Err(_) => "another error",
        }
    }

    fn verifier(&self) -> Result<Option<Verifier>, SecretError> {
        let tolerance = Duration::from_secs(self.tolerance_seconds);
        let secrets: Result<Vec<_>, _> = self.secrets.iter().map(|s| Secret::parse(s)).collect();
        let mut secrets = secrets?.into_iter();
        let first = secrets.next().map(Verifier::new);
        let all = first.map(|first| secrets.fold(first, Verifier::also_accepting));
        Ok(all.map(|all| all.with_tolerance(tolerance)))
    }

    fn body(&self) -> Vec<u8> {
        let mut body = vec![0; self.body_hex.len() / 2];
        hex::decode_to_slice(&self.body_hex, &mut body).unwrap();
        body
    }
}

// Contract: delivery/x-service-signature delivery/signed
#[test]
fn every_vector_has_its_outcome() {
    let document: Document = serde_json::from_str(include_str!("../vectors.json")).unwrap();
    assert!(document.cases.len() > 100);
    for case in document.cases {
        assert_eq!(case.outcome(), case.outcome, "{}", case.name);
    }
}
