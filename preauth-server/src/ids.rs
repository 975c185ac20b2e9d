//! Random identifiers and secrets, from the operating system's generator.

use preauth_core::port::IdSource;
use preauth_core::value::Timestamp;
use uuid::Uuid;

/// Generates UUIDv7: in the order of the service's clock, random below the millisecond.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn uuid(&self, now: Timestamp) -> Uuid {
        let millis = now.unix_millis().max(0).unsigned_abs();
        uuid::Builder::from_unix_timestamp_millis(millis, &random_bytes()).into_uuid()
    }
}

/// A number for spreading retries, which differs between records and between the attempts of one:
/// from the id's random bits.
#[must_use]
pub fn jitter(id: &Uuid, attempts_made: u32) -> u32 {
    let (_, low) = id.as_u64_pair();
    let [_, _, _, _, a, b, c, d] = low.to_be_bytes();
    u32::from_be_bytes([a, b, c, d]).rotate_left(attempts_made)
}

/// `N` random bytes.
///
/// # Panics
///
/// When the operating system provides no randomness: no key or id could be trusted then.
#[must_use]
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    #[expect(clippy::expect_used, reason = "without randomness nothing may go on")]
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}
