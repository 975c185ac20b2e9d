//! Keys for one purpose, derived from a master key, so that no two purposes share a key.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A derived key, ready for keyed hashes; the hash zeroes it.
#[derive(Clone)]
pub(super) struct DerivedKey(Hmac<Sha256>);

impl DerivedKey {
    /// The key for `purpose` under a master key.
    pub(super) fn of(master: &[u8], purpose: &[u8]) -> Self {
        let derived = keyed(master).chain_update(purpose).finalize();
        Self(keyed(&derived.into_bytes()))
    }

    /// HMAC-SHA-256 of `message`.
    pub(super) fn mac(&self, message: &[u8]) -> [u8; 32] {
        let mac = self.0.clone().chain_update(message);
        mac.finalize().into_bytes().into()
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    Hmac::new_from_slice(key).expect("any length")
}
