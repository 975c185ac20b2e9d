//! The token of the private listener.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use crate::ids::random_bytes;

/// A token has at least so many characters, so that it cannot be guessed.
const LEAST_CHARACTERS: usize = 16;

/// What operators present on the private listener.
#[derive(Clone)]
pub struct OperatorToken(SecretString);

impl OperatorToken {
    /// Takes a configured token; `None` when it is shorter than 16 characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        (text.chars().count() >= LEAST_CHARACTERS).then(|| Self(text.to_owned().into()))
    }

    /// Makes a token.
    #[must_use]
    pub fn generate() -> Self {
        Self(format!("preauth_op_{}", hex::encode(random_bytes::<24>())).into())
    }

    /// Whether `presented` is this token, in a time that does not tell how much of it is right.
    #[must_use]
    pub fn admits(&self, presented: &str) -> bool {
        self.0
            .expose_secret()
            .as_bytes()
            .ct_eq(presented.as_bytes())
            .into()
    }

    /// The clear text, for its file and for the sandbox's greeting.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorToken(..)")
    }
}
