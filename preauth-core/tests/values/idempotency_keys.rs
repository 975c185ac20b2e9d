//! Idempotency keys and fingerprints.

use preauth_core::value::{Fingerprint, IdempotencyKey, IdempotencyKeyError};
use proptest::prelude::*;

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

proptest! {
    #[test]
    fn a_key_reads_back_as_itself(text in "[A-Za-z0-9._:-]{8,100}") {
        let key = IdempotencyKey::parse(&text).unwrap();
        prop_assert_eq!(key.as_str(), &text);
        prop_assert_eq!(key.to_string().parse(), Ok(key));
    }
}
