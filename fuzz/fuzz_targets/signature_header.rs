//! For any signature header: no panic, and nothing accepted that was not signed.
//!
//! The input is a header, a line end, and a body, so that the corpus can be read and written by
//! hand. An input without a line end is a header for an empty body.

#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use webhook_verify::{Secret, Verifier, VerifyError, sign};

/// Signs the accepted entries of the corpus.
static SECRET: LazyLock<Secret> = LazyLock::new(|| {
    Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE").expect("a well-formed secret")
});

/// No signature is too old or too new, so that signatures are always compared.
static TIMELESS: LazyLock<Verifier> =
    LazyLock::new(|| Verifier::new(SECRET.clone()).with_tolerance(Duration::MAX));

const NOW: i64 = 1_760_000_000;

fuzz_target!(|input: &[u8]| {
    let (header, body) = split_at_line_end(input);
    only_what_the_signer_makes_is_accepted(header, body);
    a_genuine_signature_is_found_among_anything_well_formed(header, body);
    no_clock_value_panics(header, body);
});

fn split_at_line_end(input: &[u8]) -> (&[u8], &[u8]) {
    let mut halves = input.splitn(2, |&byte| byte == b'\n');
    let header = halves.next().unwrap_or_default();
    (header, halves.next().unwrap_or_default())
}

/// Accepted means: the header has the `t` and `v1` that the signer writes, apart from the case of
/// hex.
fn only_what_the_signer_makes_is_accepted(header: &[u8], body: &[u8]) {
    let Ok(verified) = TIMELESS.verify(Some(header), body, NOW) else {
        return;
    };
    assert!(std::ptr::eq(verified.body(), body));
    let signed = sign_at(verified.signed_at_unix_seconds(), body);
    let (time, signature) = signed.split_once(',').expect("t and v1");
    let items = || header.split(|&byte| byte == b',');
    assert!(items().any(|item| item == time.as_bytes()));
    assert!(items().any(|item| item.eq_ignore_ascii_case(signature.as_bytes())));
}

/// Additions to a genuine header can make it malformed, never hide the genuine signature.
fn a_genuine_signature_is_found_among_anything_well_formed(addition: &[u8], body: &[u8]) {
    let genuine = sign_at(NOW, body).into_bytes();
    let longer = [genuine.as_slice(), addition].join(&b',');
    match TIMELESS.verify(Some(&longer), body, NOW) {
        Ok(_) | Err(VerifyError::Malformed(_)) => {}
        Err(other) => panic!("a genuine signature was not found: {other}"),
    }
}

/// The clock's reading comes from the body's first bytes: any 64-bit number will do.
fn no_clock_value_panics(header: &[u8], body: &[u8]) {
    if let Some(now) = body.first_chunk() {
        let verifier = Verifier::new(SECRET.clone());
        let _ = verifier.verify(Some(header), body, i64::from_le_bytes(*now));
    }
}

fn sign_at(unix_seconds: i64, body: &[u8]) -> String {
    sign(std::slice::from_ref(&*SECRET), unix_seconds, body).expect("a time that can be signed")
}
