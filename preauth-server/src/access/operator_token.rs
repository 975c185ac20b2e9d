//! Tokens of named operators: `preauth_op_`, 192 random bits, and a checksum. The configured token of
//! the server may have any other form.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use super::KeyHash;
use super::checked_secret::{self, RandomPart};

/// The prefix of every generated operator token.
pub const OPERATOR_PREFIX: &str = "preauth_op_";

/// A new token; its clear text is shown once and not stored.
#[derive(Debug)]
pub struct NewOperatorToken {
    /// The whole token.
    pub clear_text: SecretString,
    /// Its stored hash.
    pub hash: KeyHash,
}

impl NewOperatorToken {
    /// Generates a token.
    #[must_use]
    pub fn generate() -> Self {
        let clear_text = checked_secret::generate(OPERATOR_PREFIX);
        Self {
            hash: checked_secret::hash(clear_text.expose_secret()),
            clear_text,
        }
    }
}

/// A text in the form of a named operator's token.
#[derive(Clone)]
pub struct NamedToken {
    random: RandomPart,
    hash: KeyHash,
}

impl NamedToken {
    /// Reads a presented token; `None` when it has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let random = checked_secret::random_part(OPERATOR_PREFIX, text)?;
        let hash = checked_secret::hash_of_presented(OPERATOR_PREFIX, text)?;
        Some(Self { random, hash })
    }

    /// The token with this random part.
    #[must_use]
    pub fn of_random(random: RandomPart) -> Self {
        let text = checked_secret::assemble(OPERATOR_PREFIX, &random);
        let hash = checked_secret::hash(text.expose_secret());
        Self { random, hash }
    }

    /// The random part, between prefix and checksum.
    #[must_use]
    pub const fn random(&self) -> &RandomPart {
        &self.random
    }

    /// The hash that the server stores.
    #[must_use]
    pub const fn hash(&self) -> KeyHash {
        self.hash
    }
}

impl fmt::Debug for NamedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedToken(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::{NamedToken, NewOperatorToken};
    use secrecy::ExposeSecret;

    #[test]
    fn a_new_token_is_recognised_by_its_text_and_by_its_random_part() {
        let new = NewOperatorToken::generate();
        let text = new.clear_text.expose_secret();
        let token = NamedToken::parse(text).unwrap();
        assert_eq!(token.hash(), new.hash);
        assert_eq!(
            NamedToken::of_random(token.random().clone()).hash(),
            new.hash
        );
        assert!(!format!("{new:?}{token:?}").contains(&text[11..]));
    }

    #[test]
    fn a_token_with_one_character_changed_is_none() {
        let new = NewOperatorToken::generate();
        let text = new.clear_text.expose_secret();
        for index in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[index] = if bytes[index] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(NamedToken::parse(&changed).is_none(), "{index}");
        }
    }

    #[test]
    fn configured_tokens_of_any_other_form_are_none() {
        let generated_without_checksum = format!("preauth_op_{}", "0".repeat(48));
        for text in ["", "preauth_op_", "operator-token-of-the-tests"] {
            assert!(NamedToken::parse(text).is_none(), "{text}");
        }
        assert!(NamedToken::parse(&generated_without_checksum).is_none());
    }
}
