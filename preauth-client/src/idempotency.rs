//! The random values of a create: idempotency keys, if the caller gave none, and boundaries of forms.

use preauth_core::value::IdempotencyKey;
use uuid::{Builder, Uuid};

use crate::{Error, ErrorKind};

/// Generates a key from the randomness of the operating system: the text of a random UUID.
pub(crate) fn draw_key() -> Result<IdempotencyKey, Error> {
    let failed = |cause| Error::new(ErrorKind::Randomness).caused_by(cause);
    IdempotencyKey::parse(&draw_uuid()?.to_string()).map_err(failed)
}

/// Generates the boundary between the parts of a form.
pub(crate) fn draw_boundary() -> Result<String, Error> {
    Ok(draw_uuid()?.simple().to_string())
}

fn draw_uuid() -> Result<Uuid, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|cause| Error::new(ErrorKind::Randomness).caused_by(cause))?;
    Ok(Builder::from_random_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_never_drawn_twice() {
        assert_ne!(draw_key().unwrap(), draw_key().unwrap());
    }
}
