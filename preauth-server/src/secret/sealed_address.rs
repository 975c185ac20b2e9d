//! An address within a link, which ends the mails to it however long ago the mail was sent: no record of
//! the mail is needed, and whoever holds a forwarded link does not read the address.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use preauth_core::value::{Email, OperationId};

use super::derived_key::DerivedKey;

const NONCE_BYTES: usize = 24;
/// The longest address, its nonce and its tag, in base64.
const MAX_LENGTH: usize = 512;
const KEY: &[u8] = b"preauth sealed address 1: key";
const NONCE: &[u8] = b"preauth sealed address 1: nonce";
/// The last part of the text: programs that find links in a text take a last sign for punctuation.
const VERSION: &str = ".1";

/// Seals an address for the link of this operation. The nonce is derived from both, so that the same mail
/// can be written again.
pub(super) fn seal(key: &DerivedKey, operation: OperationId, address: &Email) -> Option<String> {
    let bound = operation.get().to_be_bytes();
    let derived = key.mac(&[NONCE, &bound, address.as_str().as_bytes()].concat());
    let nonce: [u8; NONCE_BYTES] = derived.first_chunk().copied()?;
    let payload = Payload {
        msg: address.as_str().as_bytes(),
        aad: &bound,
    };
    let sealed = cipher(key).encrypt(&XNonce::from(nonce), payload).ok()?;
    let text = URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat());
    Some(text + VERSION)
}

/// Opens the result of [`seal`].
pub(super) fn open(key: &DerivedKey, operation: OperationId, sealed: &str) -> Option<Email> {
    let text = sealed.strip_suffix(VERSION)?;
    if text.len() > MAX_LENGTH {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
    let payload = Payload {
        msg: sealed,
        aad: &operation.get().to_be_bytes(),
    };
    let clear = cipher(key).decrypt(&XNonce::from(*nonce), payload).ok()?;
    Email::parse(std::str::from_utf8(&clear).ok()?).ok()
}

fn cipher(key: &DerivedKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&key.mac(KEY).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> DerivedKey {
        DerivedKey::of(&[byte; 32], b"test")
    }

    fn operation(id: i64) -> OperationId {
        OperationId::new(id).unwrap()
    }

    #[test]
    fn an_address_opens_for_its_operation_under_its_key() {
        let address = Email::parse("financeiro@fornecedor.example.com").unwrap();
        let sealed = seal(&key(1), operation(7), &address).unwrap();
        assert_eq!(seal(&key(1), operation(7), &address).unwrap(), sealed);
        assert!(!sealed.contains("financeiro"), "{sealed}");
        assert_eq!(open(&key(1), operation(7), &sealed), Some(address));
        assert_eq!(open(&key(2), operation(7), &sealed), None);
        assert_eq!(open(&key(1), operation(8), &sealed), None);
        for at in 0..sealed.len() {
            let other = if sealed.as_bytes()[at] == b'A' {
                "B"
            } else {
                "A"
            };
            let mut changed = sealed.clone();
            changed.replace_range(at..=at, other);
            assert_eq!(open(&key(1), operation(7), &changed), None, "{at}");
        }
        for wrong in ["", ".1", "AAAA.1", &sealed[2..], &format!("{sealed}0")] {
            assert_eq!(open(&key(1), operation(7), wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_longest_address_fits() {
        let longest = format!("{}@{}.example.com", "a".repeat(64), "b".repeat(63));
        let address = Email::parse(&longest).unwrap();
        let sealed = seal(&key(1), operation(i64::MAX), &address).unwrap();
        assert_eq!(open(&key(1), operation(i64::MAX), &sealed), Some(address));
    }
}
