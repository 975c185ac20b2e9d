//! The definition of the signed string, and the comparison of signatures: the only place for both.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
#[cfg(not(feature = "aws-lc-rs"))]
mod portable;

use subtle::{Choice, ConstantTimeEq};

#[cfg(feature = "aws-lc-rs")]
use aws_lc as backend;
#[cfg(not(feature = "aws-lc-rs"))]
use portable as backend;

/// Length of an HMAC-SHA256 in bytes.
pub(crate) const MAC_BYTES: usize = 32;

/// A computed or received HMAC-SHA256.
pub(crate) type Mac = [u8; MAC_BYTES];

/// An HMAC-SHA256 key, prepared once for many bodies.
#[derive(Clone)]
pub(crate) struct HmacKey(backend::Key);

impl HmacKey {
    /// Prepares the key.
    pub(crate) fn new(key: &[u8]) -> Self {
        Self(backend::Key::new(key))
    }

    /// The MAC of the concatenated parts.
    #[inline]
    fn mac(&self, parts: [&[u8]; 3]) -> Mac {
        self.0.mac(parts)
    }
}

/// The signature of a body at a time, shared by verifier and signer
/// ([contract, "Signature"](https://example.com/preauth/blob/main/docs/reference.md#signature)).
///
/// `timestamp` is its text in the header.
pub(crate) fn signature(key: &HmacKey, timestamp: &[u8], body: &[u8]) -> Mac {
    key.mac([timestamp, b".", body])
}

/// Whether any expected MAC equals any candidate. It compares every pair, even after a match.
///
/// Its time depends on the number of MACs only, never on their contents.
pub(crate) fn any_match<'c>(
    expected: impl Iterator<Item = Mac>,
    candidates: &(impl Iterator<Item = &'c Mac> + Clone),
) -> bool {
    let mut found = Choice::from(0);
    for mac in expected {
        for candidate in candidates.clone() {
            found |= words(&mac).ct_eq(&words(candidate));
        }
    }
    found.into()
}

/// A MAC as four words, which compare in an eighth of the steps of 32 bytes, also in constant time.
fn words(mac: &Mac) -> [u64; 4] {
    let mut all = [0; 4];
    for (word, bytes) in all.iter_mut().zip(mac.chunks_exact(8)) {
        // The compiler knows the length, so no branch remains.
        *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    }
    all
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    const A: Mac = [0xaa; MAC_BYTES];
    const B: Mac = [0xbb; MAC_BYTES];
    const C: Mac = [0xcc; MAC_BYTES];

    // Contract: delivery/signed
    #[test]
    fn the_mac_is_that_of_rfc_4231() {
        // Test case 2 of RFC 4231, its data cut in three.
        let key = HmacKey::new(b"Jefe");
        let mac = key.mac([b"what do ya want ", b"for ", b"nothing?"]);
        let mut expected = [0; MAC_BYTES];
        hex::decode_to_slice(
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            &mut expected,
        )
        .unwrap();
        assert_eq!(mac, expected);
    }

    // Contract: delivery/constant-time
    #[test]
    fn every_expected_mac_is_compared_with_every_candidate_even_after_a_match() {
        let macs = Cell::new(0);
        let comparisons = Cell::new(0);
        let expected = [A, B, C].into_iter().inspect(|_| macs.set(macs.get() + 1));
        let candidates = [A, B, C, A];
        let counted = candidates
            .iter()
            .inspect(|_| comparisons.set(comparisons.get() + 1));

        assert!(any_match(expected, &counted));
        assert_eq!((macs.get(), comparisons.get()), (3, 12));
    }

    #[test]
    fn one_equal_pair_at_any_place_is_enough() {
        assert!(any_match([C, A].into_iter(), &[B, A].iter()));
        assert!(any_match([A, C].into_iter(), &[A, B].iter()));
        assert!(!any_match([A, A].into_iter(), &[B, C].iter()));
    }

    #[test]
    fn nothing_matches_nothing() {
        assert!(!any_match([].into_iter(), &[A].iter()));
        assert!(!any_match([A].into_iter(), &[].iter()));
    }
}
