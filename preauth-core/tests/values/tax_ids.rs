//! Tax ids: defects, bounds, check digits.

use preauth_core::value::{Cnpj, CnpjError};
use proptest::prelude::*;

/// The check digits, computed a second way: by position, as the tax authority's text puts it.
fn with_check_digits(base: &str) -> String {
    let mut text = base.to_owned();
    for _ in 0..2 {
        let sum: usize = text
            .bytes()
            .rev()
            .enumerate()
            .map(|(place, byte)| usize::from(byte - 48) * (2 + place % 8))
            .sum();
        let digit = (11 - sum % 11) % 11 % 10;
        text.push_str(&digit.to_string());
    }
    text
}

#[test]
fn each_defect_has_its_own_error() {
    let cases = [
        ("", CnpjError::Empty),
        ("   ", CnpjError::Empty),
        ("./-", CnpjError::WrongLength { found: 0 }),
        ("12ABC34501DE350", CnpjError::WrongLength { found: 15 }),
        ("12ABC34501DE3\u{661}", CnpjError::InvalidCharacter),
        ("12ABC345 01DE35", CnpjError::InvalidCharacter),
        ("12ABC34501DE35\n", CnpjError::InvalidCharacter),
        ("12ABC34501DEA5", CnpjError::LetterInCheckDigits),
        ("00000000000000", CnpjError::RepeatedCharacter),
        ("12ABC34501DE34", CnpjError::WrongCheckDigits),
    ];
    for (text, error) in cases {
        assert_eq!(Cnpj::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn input_of_any_size_is_refused_by_its_size() {
    assert_eq!(Cnpj::parse(&".".repeat(100_000)), Err(CnpjError::TooLong));
    let padded = format!("{:>64}", "12ABC34501DE35");
    assert!(Cnpj::parse(&padded).is_ok());
    assert_eq!(Cnpj::parse(&format!(" {padded}")), Err(CnpjError::TooLong));
}

#[test]
fn only_digits_make_a_numeric_tax_id() {
    assert!(Cnpj::parse("11222333000181").unwrap().is_numeric());
    assert!(!Cnpj::parse("12ABC34501DE35").unwrap().is_numeric());
}

#[test]
fn debug_hides_all_but_the_ends() {
    let cnpj = Cnpj::parse("11.222.333/0001-81").unwrap();
    assert_eq!(format!("{cnpj:?}"), "Cnpj(11..81)");
    assert_eq!(format!("{:?}", cnpj.root()), "CnpjRoot(11..33)");
}

#[test]
fn head_office_and_branches_are_one_legal_entity() {
    let root = |text: &str| Cnpj::parse(text).unwrap().root();
    assert_eq!(root("45.723.001/0001-00"), root("45723001000283"));
    assert_eq!(
        root("12.abc.345/01de-35"),
        root(&with_check_digits("12ABC3450002"))
    );
    assert_eq!(root("12ABC34501DE35").as_str(), "12ABC345");
    assert_ne!(root("11222333000181"), root("11444777000161"));
}

proptest! {
    #[test]
    fn a_root_is_the_first_eight_characters(root in "[0-9A-Z]{8}", one in "[0-9A-Z]{3}[1-9]", other in "[0-9A-Z]{4}") {
        let one = Cnpj::parse(&with_check_digits(&format!("{root}{one}"))).unwrap();
        let found = one.root();
        prop_assert_eq!(found.as_str(), &root);
        if let Ok(other) = Cnpj::parse(&with_check_digits(&format!("{root}{other}"))) {
            prop_assert_eq!(found, other.root());
        }
    }

    #[test]
    fn every_base_has_exactly_one_pair_of_check_digits(base in "[0-9A-Z]{12}") {
        let right = with_check_digits(&base);
        for digits in 0..100 {
            let text = format!("{base}{digits:02}");
            let expected = text == right && text.bytes().any(|byte| byte != text.as_bytes()[0]);
            prop_assert_eq!(Cnpj::parse(&text).is_ok(), expected);
        }
    }

    #[test]
    fn mask_and_case_make_no_difference(base in "[0-9A-Z]{11}[1-9]") {
        let text = with_check_digits(&base);
        let cnpj = Cnpj::parse(&text).unwrap();
        let masked = format!(
            " {}.{}.{}/{}-{} ", &text[..2], &text[2..5], &text[5..8], &text[8..12], &text[12..]
        );
        prop_assert_eq!(Cnpj::parse(&masked.to_lowercase()), Ok(cnpj));
        prop_assert_eq!(cnpj.as_str(), &text);
        prop_assert_eq!(cnpj.to_string().parse(), Ok(cnpj));
    }

    #[test]
    fn no_text_is_too_strange_to_be_validated(text in "\\PC*") {
        if let Ok(cnpj) = Cnpj::parse(&text) {
            prop_assert_eq!(cnpj.as_str().len(), 14);
        }
    }
}
