//! Keys for creates whose caller gave none.

use preauth_core::value::IdempotencyKey;
use uuid::Builder;

use crate::{Error, ErrorKind};

/// Draws a key from the randomness of the operating system: the text of a random UUID.
pub(crate) fn draw_key() -> Result<IdempotencyKey, Error> {
    let failed = || Error::new(ErrorKind::Randomness);
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|cause| failed().caused_by(cause))?;
    let uuid = Builder::from_random_bytes(bytes).into_uuid();
    IdempotencyKey::parse(&uuid.to_string()).map_err(|cause| failed().caused_by(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_never_drawn_twice() {
        assert_ne!(draw_key().unwrap(), draw_key().unwrap());
    }
}
