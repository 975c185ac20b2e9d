//! E-mails: defects and bounds.

use preauth_core::value::{Email, EmailError};
use proptest::prelude::*;

#[test]
fn each_defect_has_its_own_error() {
    let long_local = format!("{}@example.com", "a".repeat(65));
    let long_label = format!("a@{}.com", "b".repeat(64));
    let cases = [
        ("  ", EmailError::Empty),
        ("a@example.com\n", EmailError::ControlCharacter),
        ("example.com", EmailError::NoAt),
        ("@example.com", EmailError::EmptyLocalPart),
        (&long_local, EmailError::LocalPartTooLong),
        ("a b@example.com", EmailError::LocalPartCharacter),
        ("neil'@example.com", EmailError::LocalPartCharacter),
        (".a@example.com", EmailError::MisplacedDot),
        ("a@", EmailError::EmptyDomain),
        ("a@localhost", EmailError::SingleLabelDomain),
        ("a@example..com", EmailError::DomainLabel),
        (&long_label, EmailError::DomainLabel),
        ("a@example.c", EmailError::TopLevelDomain),
        ("a@example.123", EmailError::TopLevelDomain),
    ];
    for (text, error) in cases {
        assert_eq!(Email::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn an_email_of_255_characters_is_taken_and_one_of_256_is_not() {
    let of_length = |length: usize| {
        let local = "a".repeat(64);
        let labels = format!("{0}.{0}", "b".repeat(63));
        let rest = "c".repeat(length - local.len() - labels.len() - 6);
        format!("{local}@{labels}.{rest}.com")
    };
    assert_eq!(of_length(255).len(), 255);
    assert!(Email::parse(&of_length(255)).is_ok());
    assert!(Email::parse(&format!("  {}  ", of_length(255))).is_ok());
    assert_eq!(Email::parse(&of_length(256)), Err(EmailError::TooLong));
}

proptest! {
    #[test]
    fn an_email_reads_back_as_itself(
        text in "[A-Za-z0-9_+-]{1,8}(\\.[A-Za-z0-9'_+-]{0,3}[a-z]){0,3}@([a-z0-9]{1,9}\\.){1,3}[a-z]{2,9}"
    ) {
        let email = Email::parse(&text).unwrap();
        prop_assert_eq!(email.as_str(), &text);
        prop_assert_eq!(email.to_string().parse(), Ok(email));
    }

    #[test]
    fn whatever_is_taken_is_ascii_within_the_bounds(text in "\\PC{0,20}@\\PC{0,20}") {
        if let Ok(email) = Email::parse(&text) {
            prop_assert!(email.as_str().is_ascii() && email.as_str().len() <= 255);
            prop_assert!(!email.as_str().contains(char::is_whitespace));
        }
    }
}
