//! For any text given as a tax id: no panic, and exactly the definition's result.
//!
//! The input is the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use preauth_core::value::Cnpj;

const MAX_RAW_BYTES: usize = 64;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    parsing_is_what_the_definition_says(text);
    any_twelve_characters_have_two_digits_that_fit(text);
});

fn parsing_is_what_the_definition_says(text: &str) {
    let parsed = Cnpj::parse(text);
    let normalized = parsed.as_ref().ok().map(Cnpj::as_str);
    assert_eq!(normalized, by_definition(text).as_deref());
    let Ok(cnpj) = parsed else {
        return;
    };
    assert_eq!(Cnpj::parse(cnpj.as_str()), Ok(cnpj));
    assert_eq!(Cnpj::parse(&masked(cnpj.as_str()).to_lowercase()), Ok(cnpj));
    assert_eq!(cnpj.to_string(), cnpj.as_str());
    assert_eq!(format!("{cnpj:?}").len(), "Cnpj(00..00)".len());
}

fn any_twelve_characters_have_two_digits_that_fit(text: &str) {
    let characters = text.chars().filter(char::is_ascii_alphanumeric);
    let base: String = characters.take(12).collect();
    if base.len() < 12 {
        return;
    }
    let whole = with_check_digits(&base.to_uppercase());
    let is_one_character = whole.chars().all(|each| whole.starts_with(each));
    assert_eq!(Cnpj::parse(&whole).is_ok(), !is_one_character);
}

/// The normalized text, if it is a tax id: a second implementation of the rules, which shares no
/// code with the first.
fn by_definition(text: &str) -> Option<String> {
    if text.len() > MAX_RAW_BYTES {
        return None;
    }
    let plain: String = text
        .trim_matches(' ')
        .chars()
        .filter(|character| !"./-".contains(*character))
        .map(|character| character.to_ascii_uppercase())
        .collect();
    let is_allowed = |character: char| character.is_ascii_digit() || character.is_ascii_uppercase();
    let fits = plain.len() == 14
        && plain.chars().all(is_allowed)
        && plain[12..].chars().all(|digit| digit.is_ascii_digit())
        && !plain.chars().all(|each| plain.starts_with(each))
        && plain == with_check_digits(&plain[..12]);
    fits.then_some(plain)
}

fn with_check_digits(base: &str) -> String {
    let mut whole = base.to_owned();
    for _ in 0..2 {
        // From the right, the weights run from 2 to 9 and start again.
        let places = whole.bytes().rev().zip((2..=9).cycle());
        let sum: u32 = places
            .map(|(byte, weight)| u32::from(byte - b'0') * weight)
            .sum();
        let digit = match 11 - sum % 11 {
            10 | 11 => 0,
            digit => digit,
        };
        whole.push_str(&digit.to_string());
    }
    whole
}

fn masked(plain: &str) -> String {
    let part = |range| plain.get(range).expect("fourteen characters");
    let root = [part(0..2), part(2..5), part(5..8)].join(".");
    format!("{root}/{}-{}", part(8..12), part(12..14))
}
