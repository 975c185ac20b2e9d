//! Properties that hold for every body, time and set of secrets.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on panics"
)]

use std::time::Duration;

use proptest::prelude::*;
use webhook_verify::{MAX_SIGNATURES, Secret, Verifier, sign};

fn any_secret() -> impl Strategy<Value = Secret> {
    "whsec_[A-Za-z0-9_-]{24,80}".prop_map(|text| Secret::parse(&text).unwrap())
}

fn any_secrets() -> impl Strategy<Value = Vec<Secret>> {
    prop::collection::vec(any_secret(), 1..=MAX_SIGNATURES)
}

fn any_body() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..300)
}

fn any_time() -> impl Strategy<Value = i64> {
    0..=999_999_999_999_i64
}

/// Accepts any time, so that only the signature can refuse.
fn timeless(secrets: &[Secret]) -> Verifier {
    let mut secrets = secrets.iter().cloned();
    let first = Verifier::new(secrets.next().unwrap());
    secrets
        .fold(first, Verifier::also_accepting)
        .with_tolerance(Duration::MAX)
}

fn signed(secret: &Secret, time: i64, body: &[u8]) -> String {
    sign(std::slice::from_ref(secret), time, body).unwrap()
}

fn accepts(verifier: &Verifier, header: &[u8], body: &[u8], now: i64) -> bool {
    verifier.verify(Some(header), body, now).is_ok()
}

proptest! {
    // Contract: delivery/signed
    #[test]
    fn a_signed_body_is_accepted_with_its_own_bytes(
        secret in any_secret(), time in any_time(), body in any_body(), drift in -300..=300_i64,
    ) {
        let header = signed(&secret, time, &body);
        let verifier = Verifier::new(secret);
        let verified = verifier.verify(Some(header.as_bytes()), &body, time + drift).unwrap();
        prop_assert!(std::ptr::eq(verified.body(), body.as_slice()));
        prop_assert_eq!(verified.signed_at_unix_seconds(), time);
    }

    // Contract: delivery/raw-body
    #[test]
    fn any_single_bit_flipped_in_the_body_is_refused(
        secret in any_secret(), time in any_time(), body in any_body(), bit in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!body.is_empty());
        let header = signed(&secret, time, &body);
        let changed = with_bit_flipped(&body, bit.index(body.len() * 8));
        prop_assert!(!accepts(&timeless(&[secret]), header.as_bytes(), &changed, time));
    }

    #[test]
    fn any_single_bit_flipped_in_time_or_signature_is_refused(
        secret in any_secret(), time in any_time(), body in any_body(),
    ) {
        let header = signed(&secret, time, &body).into_bytes();
        let verifier = timeless(&[secret]);
        let digits_at = header.len() - 64;
        for bit in 0..header.len() * 8 {
            let changed = with_bit_flipped(&header, bit);
            // A letter's case is no part of a hexadecimal number: that flip changes no bit of it.
            let same_number = changed[..digits_at] == header[..digits_at]
                && changed[digits_at..].eq_ignore_ascii_case(&header[digits_at..]);
            prop_assert_eq!(accepts(&verifier, &changed, &body, time), same_number, "bit {}", bit);
        }
    }

    #[test]
    fn any_of_several_secrets_and_any_of_several_signatures_is_accepted(
        ours in any_secrets(), theirs in any_secrets(), shared in any_secret(),
        at in any::<prop::sample::Index>(), time in any_time(), body in any_body(),
    ) {
        let mut signing = theirs;
        let place = at.index(signing.len());
        signing[place] = shared.clone();
        let header = sign(&signing, time, &body).unwrap();

        let without = timeless(&ours);
        prop_assert!(!accepts(&without, header.as_bytes(), &body, time));
        let with_shared_last = without.also_accepting(shared.clone());
        prop_assert!(accepts(&with_shared_last, header.as_bytes(), &body, time));
        let with_shared_first = timeless(&[&[shared], ours.as_slice()].concat());
        prop_assert!(accepts(&with_shared_first, header.as_bytes(), &body, time));
    }

    #[test]
    fn another_secret_is_refused(
        secret in any_secret(), other in any_secret(), time in any_time(), body in any_body(),
    ) {
        let header = sign(&[secret], time, &body).unwrap();
        prop_assert!(!accepts(&timeless(&[other]), header.as_bytes(), &body, time));
    }

    #[test]
    fn the_case_of_the_hex_digits_does_not_matter(
        secret in any_secret(), time in any_time(), body in any_body(),
    ) {
        let header = signed(&secret, time, &body);
        let (time_item, digits) = header.split_once("v1=").unwrap();
        let shouted = format!("{time_item}v1={}", digits.to_ascii_uppercase());
        prop_assert!(accepts(&timeless(&[secret]), shouted.as_bytes(), &body, time));
    }

    #[test]
    fn no_header_body_or_clock_makes_it_panic(
        secret in any_secret(), header in prop::collection::vec(any::<u8>(), 0..200),
        body in any_body(), now in any::<i64>(),
    ) {
        prop_assert!(!accepts(&timeless(&[secret]), &header, &body, now));
    }

    #[test]
    fn no_header_of_nearly_the_right_form_is_accepted(
        secret in any_secret(), header in "(t|v1|v0)=[-+0-9]{0,20}(,(t|v1|x)=[0-9a-f]{0,66}){0,9}",
        body in any_body(), now in any::<i64>(),
    ) {
        prop_assert!(!accepts(&timeless(&[secret]), header.as_bytes(), &body, now));
    }
}

fn with_bit_flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[bit / 8] ^= 1 << (bit % 8);
    changed
}
