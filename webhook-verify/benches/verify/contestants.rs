//! A genuine delivery, the floor, and ours.

use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use webhook_verify::{Secret, Verifier, sign};

use crate::race::Contestant;

/// Signing secret of the deliveries.
pub(crate) const SECRET: &str = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE";

const BACKEND: &str = if cfg!(feature = "aws-lc-rs") {
    "webhook-verify, aws-lc-rs"
} else {
    "webhook-verify"
};

/// A body and its signature of now.
pub(crate) struct Delivery {
    pub(crate) signed_at: i64,
    pub(crate) header: String,
    pub(crate) body: Vec<u8>,
}

impl Delivery {
    /// A body of this many bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        let secret = Secret::parse(SECRET).unwrap();
        let (signed_at, body) = (now(), vec![b'x'; bytes]);
        Self {
            header: sign(&[secret], signed_at, &body).unwrap(),
            signed_at,
            body,
        }
    }
}

/// HMAC-SHA256 of the signed string by the crates `hmac` and `sha2`, its key prepared once, the
/// string there in one piece: nothing is parsed, compared, or asked of a clock.
pub(crate) fn floor(delivery: &Delivery) -> Contestant<'_> {
    let key = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    let mut signed = format!("{}.", delivery.signed_at).into_bytes();
    signed.extend_from_slice(&delivery.body);
    Contestant::new("hmac + sha2, the floor", move || {
        let mut mac = key.clone();
        mac.update(std::hint::black_box(&signed));
        std::hint::black_box(mac.finalize().into_bytes());
        true
    })
}

/// Header to verified body, the system clock included.
pub(crate) fn ours(delivery: &Delivery) -> Contestant<'_> {
    let verifier = Verifier::new(Secret::parse(SECRET).unwrap());
    Contestant::new(BACKEND, move || {
        let header = std::hint::black_box(delivery.header.as_bytes());
        let body = std::hint::black_box(delivery.body.as_slice());
        verifier.verify_now(Some(header), body).is_ok()
    })
}

#[expect(clippy::disallowed_methods, reason = "a delivery is signed now")]
fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since_1970.as_secs()).unwrap()
}
