//! Idempotency keys and fingerprints.

use preauth_core::value::{
    Fingerprint, FingerprintBuilder, Fingerprints, IdempotencyKey, IdempotencyKeyError,
};
use proptest::prelude::*;

// Contract: create-call/Idempotency-Key
#[test]
fn a_key_has_8_to_100_characters() {
    let of_length = |length| IdempotencyKey::parse(&"k".repeat(length)).map(|_| ());
    assert_eq!(
        of_length(0),
        Err(IdempotencyKeyError::TooShort { found: 0 })
    );
    assert_eq!(
        of_length(7),
        Err(IdempotencyKeyError::TooShort { found: 7 })
    );
    assert_eq!(of_length(8), Ok(()));
    assert_eq!(of_length(100), Ok(()));
    assert_eq!(
        of_length(101),
        Err(IdempotencyKeyError::TooLong { found: 101 })
    );
}

#[test]
fn a_key_with_another_character_is_refused() {
    for text in [
        "with space",
        " leading1",
        "slash/slash",
        "não-ascii",
        "newline1\n",
        "comma,comma",
    ] {
        let error = IdempotencyKeyError::InvalidCharacter;
        assert_eq!(IdempotencyKey::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn a_fingerprint_is_shown_in_hexadecimal() {
    let shown = format!("{:?}", Fingerprint::from_bytes([0xab; 32]));
    assert_eq!(shown, format!("Fingerprint({})", "ab".repeat(32)));
}

/// The fingerprint of these parts as builds made it that did not compare texts in one form.
fn of_an_earlier_build(parts: &[Option<&str>]) -> Fingerprint {
    let mut builder = FingerprintBuilder::new(1);
    for part in parts {
        builder.part(part.as_ref());
    }
    builder.finish().compared()
}

fn fingerprints(parts: &[Option<&str>]) -> Fingerprints {
    let mut builder = FingerprintBuilder::new(1);
    for part in parts {
        builder.text(*part);
    }
    builder.finish()
}

#[test]
fn the_layout_of_a_fingerprint_never_changes() {
    let parts = [Some("12ABC34501DE35"), None, Some("")];
    let expected = "655e9068361916eac3702abd23ec07eb1e04a999bcd7d69376f689b855242104";
    assert_eq!(
        format!("{:?}", of_an_earlier_build(&parts)),
        format!("Fingerprint({expected})")
    );
}

#[test]
fn texts_in_another_form_are_the_same_request() {
    let composed = fingerprints(&[Some("NF-\u{e9}"), None]);
    let decomposed = fingerprints(&[Some("NF-e\u{301}"), None]);
    assert_eq!(composed.compared(), decomposed.compared());
    assert!(decomposed.include(&composed.compared()));
    assert!(!decomposed.include(&fingerprints(&[Some("NF-e"), None]).compared()));
}

proptest! {
    #[test]
    fn a_fingerprint_of_an_earlier_build_matches_the_same_bytes(text in any::<String>()) {
        let parts = [Some("a"), None, Some(text.as_str())];
        let now = fingerprints(&parts);
        prop_assert!(now.include(&of_an_earlier_build(&parts)));
        prop_assert!(now.include(&now.compared()));
    }

    #[test]
    fn a_key_reads_back_as_itself(text in "[A-Za-z0-9._:-]{8,100}") {
        let key = IdempotencyKey::parse(&text).unwrap();
        prop_assert_eq!(key.as_str(), &text);
        prop_assert_eq!(key.to_string().parse(), Ok(key));
    }
}
