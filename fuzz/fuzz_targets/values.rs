//! For any text given for a field: no panic, limits that hold, and one spelling of each stored
//! value.
//!
//! The input is the text; every type that parses a text parses it.

#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use preauth_core::ErrorCode;
use preauth_core::value::{
    CompanyId, CompanyName, ContactName, DueDate, Email, EventType, ExternalReference,
    IdempotencyKey, InvoiceNumber, KeyName, Money, OperationId, OperatorName, Origin,
    PaymentOrderStatus, Permission, PersonName, Phone, Reason, Scope, Stage, Status, SupplierName,
    TextEnum, Timestamp, Version, is_hidden,
};
use preauth_core::wire::Open;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    texts_are_trimmed_and_bounded(text);
    echoes_are_kept_as_they_are(text);
    addresses_are_plain(text);
    dates_and_moments_are_ordered_like_their_texts(text);
    numbers_and_ids_survive(text);
    words_are_recognised_by_their_one_spelling(text);
});

fn texts_are_trimmed_and_bounded(text: &str) {
    bounded::<SupplierName>(text, 2, 255);
    bounded::<ContactName>(text, 2, 255);
    bounded::<CompanyName>(text, 1, 255);
    bounded::<PersonName>(text, 1, 255);
    bounded::<Reason>(text, 1, 255);
    bounded::<KeyName>(text, 1, 100);
    bounded::<OperatorName>(text, 1, 100);
    bounded::<InvoiceNumber>(text, 1, 50);
    bounded::<Phone>(text, 1, 20);
}

fn bounded<T: FromStr + Display + PartialEq + Debug>(text: &str, min: usize, max: usize) {
    let Some(kept) = survivor::<T>(text) else {
        return;
    };
    assert_eq!(kept, text.trim());
    assert!((min..=max).contains(&kept.chars().count()), "{kept:?}");
    assert!(!kept.chars().any(is_hidden), "{kept:?}");
}

fn echoes_are_kept_as_they_are(text: &str) {
    if let Some(reference) = survivor::<ExternalReference>(text) {
        assert_eq!(reference, text);
        assert!((1..=100).contains(&text.chars().count()));
        assert!(!text.trim().is_empty() && !text.chars().any(is_hidden));
    }
    if let Some(key) = survivor::<IdempotencyKey>(text) {
        assert_eq!(key, text);
        assert!((8..=100).contains(&text.len()) && text.is_ascii());
    }
}

fn addresses_are_plain(text: &str) {
    let Some(address) = survivor::<Email>(text) else {
        return;
    };
    assert_eq!(address, text.trim());
    assert!(address.len() <= 255 && address.bytes().all(|byte| byte.is_ascii_graphic()));
    let (local, domain) = address.split_once('@').expect("an @");
    assert!((1..=64).contains(&local.len()) && !domain.contains('@'));
    assert!(!address.contains("..") && domain.contains('.'));
    for strange in ["\"", "<", ">", ",", ";", ":", "%", "\\"] {
        assert!(!address.contains(strange), "{address:?}");
    }
}

fn dates_and_moments_are_ordered_like_their_texts(text: &str) {
    if let Some(day) = survivor::<DueDate>(text) {
        assert_eq!(day, text);
        let pivot = "2026-11-21";
        let order = read::<DueDate>(text).cmp(&read::<DueDate>(pivot));
        assert_eq!(order, text.cmp(pivot));
    }
    if let Some(written) = survivor::<Timestamp>(text) {
        assert_eq!((written.len(), &written[..19]), (24, &text[..19]));
        let pivot = "2026-11-21T12:00:00.000Z";
        let order = read::<Timestamp>(text).cmp(&read::<Timestamp>(pivot));
        assert_eq!(order, written.as_str().cmp(pivot));
    }
}

fn numbers_and_ids_survive(text: &str) {
    survivor::<Money>(text);
    survivor::<Version>(text);
    if let Some(id) = survivor::<OperationId>(text) {
        assert_eq!(id, text.trim_start_matches('0'));
    }
    if let Some(id) = survivor::<CompanyId>(text) {
        assert_eq!(id, text.to_ascii_lowercase());
    }
}

fn words_are_recognised_by_their_one_spelling(text: &str) {
    word::<Status>(text);
    word::<EventType>(text);
    word::<ErrorCode>(text);
    word::<Origin>(text);
    word::<Stage>(text);
    word::<Scope>(text);
    word::<Permission>(text);
    word::<PaymentOrderStatus>(text);
}

fn word<T: TextEnum + FromStr>(text: &str) {
    let open = Open::<T>::from(text);
    assert_eq!(open.as_str(), text);
    assert_eq!(open.known().copied(), read::<T>(text));
    assert_eq!(
        open.known().is_some(),
        T::ALL.iter().any(|word| word.as_str() == text)
    );
}

/// The stored form of an accepted text: parsed again it is the same value.
fn survivor<T: FromStr + Display + PartialEq + Debug>(text: &str) -> Option<String> {
    let value = read::<T>(text)?;
    let kept = value.to_string();
    assert_eq!(read::<T>(&kept), Some(value));
    Some(kept)
}

fn read<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}
