//! HMAC-SHA256 by AWS-LC, whose assembly is up to twice as fast where SHA instructions are missing.

use aws_lc_rs::hmac;

use super::Mac;

/// A key whose two padded blocks are already hashed, so that a call only clones them.
#[derive(Clone)]
pub(super) struct Key {
    prepared: hmac::Key,
}

impl Key {
    pub(super) fn new(key: &[u8]) -> Self {
        Self {
            prepared: hmac::Key::new(hmac::HMAC_SHA256, key),
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "the algorithm above decides the length of its tags"
    )]
    pub(super) fn mac(&self, parts: [&[u8]; 3]) -> Mac {
        let mut context = hmac::Context::with_key(&self.prepared);
        for part in parts {
            context.update(part);
        }
        let tag = context.sign();
        Mac::try_from(tag.as_ref()).expect("HMAC-SHA256 has 32 bytes")
    }
}
