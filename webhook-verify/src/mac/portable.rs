//! HMAC-SHA256 by the crates `hmac` and `sha2`: for every target, `no_std` included.

use hmac::{Hmac, KeyInit, Mac as _};
use sha2::Sha256;

use super::Mac;

/// A key whose two padded blocks are already hashed, so that a call only clones them.
#[derive(Clone)]
pub(super) struct Key {
    prepared: Hmac<Sha256>,
}

impl Key {
    #[expect(clippy::expect_used, reason = "HMAC is defined for keys of any length")]
    pub(super) fn new(key: &[u8]) -> Self {
        Self {
            prepared: Hmac::new_from_slice(key).expect("HMAC takes keys of any length"),
        }
    }

    pub(super) fn mac(&self, parts: [&[u8]; 3]) -> Mac {
        let mut mac = self.prepared.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}
