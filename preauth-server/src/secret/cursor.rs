//! Places that callers hand back unchanged: bytes and a short keyed hash, which binds them to what they were written for.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::{Choice, ConstantTimeEq};

use super::derived_key::DerivedKey;

const MAC_BYTES: usize = 16;

/// The text of `body`, which is valid for `bound_to` alone. The first key writes it.
pub(super) fn write(keys: &[DerivedKey], body: &[u8], bound_to: &[u8]) -> String {
    let mac = keys.first().map(|key| mac(key, body, bound_to));
    URL_SAFE_NO_PAD.encode([body, &mac.unwrap_or_default()].concat())
}

/// The bytes of a text that was written for `bound_to` under one of these keys. Whatever the text, every key is tried.
pub(super) fn read<const N: usize>(
    keys: &[DerivedKey],
    text: &str,
    bound_to: &[u8],
) -> Option<[u8; N]> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (body, presented) = bytes.split_first_chunk::<N>()?;
    let presented: &[u8; MAC_BYTES] = presented.try_into().ok()?;
    let is_valid = keys.iter().fold(Choice::from(0), |found, key| {
        found | mac(key, body, bound_to).ct_eq(presented)
    });
    bool::from(is_valid).then_some(*body)
}

fn mac(key: &DerivedKey, body: &[u8], bound_to: &[u8]) -> [u8; MAC_BYTES] {
    let whole = key.mac(&[body, bound_to].concat());
    let mut mac = [0; MAC_BYTES];
    for (target, byte) in mac.iter_mut().zip(whole) {
        *target = byte;
    }
    mac
}
