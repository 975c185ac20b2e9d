//! The random values of a create: idempotency keys, if the caller gave none, and boundaries of forms.

use std::time::{SystemTime, UNIX_EPOCH};

use preauth_core::value::IdempotencyKey;
use uuid::Builder;

use crate::{Error, ErrorKind};

/// Generates a key from the time and the randomness of the operating system: the text of a UUID of version 7. Keys of
/// the same moment are neighbours in the service's index, so a night's offers touch few of its pages; a wrong clock
/// makes none of them equal.
pub(crate) fn draw_key() -> Result<IdempotencyKey, Error> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a part of a random value, by which nothing is decided"
    )]
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    key_at(u64::try_from(since.as_millis()).unwrap_or_default())
}

/// A key of this moment, in milliseconds since 1970.
fn key_at(millis: u64) -> Result<IdempotencyKey, Error> {
    let failed = |cause| Error::new(ErrorKind::Randomness).caused_by(cause);
    let uuid = Builder::from_unix_timestamp_millis(millis, &draw()?).into_uuid();
    IdempotencyKey::parse(&uuid.to_string()).map_err(failed)
}

/// Generates the boundary between the parts of a form.
pub(crate) fn draw_boundary() -> Result<String, Error> {
    let uuid = Builder::from_random_bytes(draw()?).into_uuid();
    Ok(uuid.simple().to_string())
}

fn draw<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|cause| Error::new(ErrorKind::Randomness).caused_by(cause))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_never_drawn_twice() {
        assert_ne!(draw_key().unwrap(), draw_key().unwrap());
    }

    #[test]
    fn keys_are_in_the_order_of_their_moments() {
        let [first, second] = [1_795_700_000_000, 1_795_700_000_001].map(key_at);
        assert!(first.unwrap().as_str() < second.unwrap().as_str());
    }
}
