//! The texts of the errors.
#![expect(
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

use std::error::Error;

use webhook_verify::{HeaderDefect, Secret, SecretError, SignError, VerifyError};

const SECRET: &str = "whsec_0123456789abcdef01234567";

/// Each with what its text must name: what was expected, or what to do next.
fn errors() -> Vec<(Box<dyn Error>, &'static str)> {
    let secret = |text: &str| -> Box<dyn Error> { Box::new(Secret::parse(text).unwrap_err()) };
    vec![
        (Box::new(VerifyError::MissingHeader), "x-service-signature"),
        (Box::new(VerifyError::NoMatch), "check that the secret"),
        (
            Box::new(VerifyError::Malformed(HeaderDefect::SignatureNotHex)),
            "64 hexadecimal digits",
        ),
        (
            Box::new(VerifyError::TooNew {
                ahead_seconds: 301,
                tolerance_seconds: 300,
            }),
            "check this machine's clock",
        ),
        (secret(""), "empty"),
        (secret("0123"), "begin with whsec_"),
        (secret("whsec_"), "nothing after whsec_"),
        (secret("whsec_0123456789abcdef01234567\n"), "line end"),
        (secret("whsec_x"), "bytes"),
        (Box::new(SignError::NoSecret), "no secret"),
        (Box::new(SignError::TimeOutOfRange), "time of signing"),
    ]
}

#[test]
fn an_error_returned_by_main_names_the_expected_value_or_the_next_step() {
    for (error, named) in errors() {
        let shown = format!("{error:?}");
        assert_eq!(shown, error.to_string());
        assert!(shown.contains(named), "{shown}");
        assert!(
            !shown.ends_with('.') && shown.starts_with(char::is_lowercase),
            "{shown}"
        );
    }
}

#[test]
fn no_error_of_a_secret_shows_the_secret() {
    let error: SecretError = Secret::parse(&SECRET[6..]).unwrap_err();
    assert!(!format!("{error:?}").contains(&SECRET[6..]));
}

#[cfg(feature = "events")]
#[test]
fn an_event_that_cannot_be_read_says_which_field_is_to_blame() {
    use webhook_verify::{Verifier, sign};

    let body = br#"{"id": "0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e", "type": "invoice.received",
        "createdAt": "2026-11-21T12:00:00.000Z", "data": {}}"#;
    let secret = Secret::parse(SECRET).unwrap();
    let header = sign(std::slice::from_ref(&secret), 1_760_000_000, body).unwrap();
    let verifier = Verifier::new(secret);
    let webhook = verifier.verify(Some(header.as_bytes()), body, 1_760_000_000);
    let error = webhook.unwrap().event().unwrap_err();
    let shown = format!("{error:?}");
    assert!(shown.starts_with(&error.to_string()), "{shown}");
    assert!(shown.contains("missing field `invoiceId`"), "{shown}");
}
