//! The secret of a session of the operators' console, which the browser keeps in a cookie.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use secrecy::SecretString;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::KeyHash;
use super::checked_secret;

const PREFIX: &str = "console_";
const FORM: &[u8] = b"preauth console 1: form";

/// The secret of a session.
pub struct ConsoleSecret(SecretString);

impl ConsoleSecret {
    /// Generates a secret.
    #[must_use]
    pub fn generate() -> Self {
        Self(checked_secret::generate(PREFIX))
    }

    /// Reads a cookie's value; `None` when it has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        checked_secret::random_part(PREFIX, text)?;
        Some(Self(text.into()))
    }

    /// The value of the cookie.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// The secret as a key.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.expose().as_bytes()
    }

    /// The hash that the server stores.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        checked_secret::hash(self.expose())
    }

    /// What every form of the session contains, and no other site knows.
    #[must_use]
    pub fn form_token(&self) -> String {
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(self.bytes()) else {
            // HMAC accepts a key of any length; nothing is admitted by an empty token.
            return String::new();
        };
        hex::encode(mac.chain_update(FORM).finalize().into_bytes())
    }

    /// Whether a form was made for this session.
    #[must_use]
    pub fn admits_form(&self, token: &str) -> bool {
        let own = self.form_token();
        !own.is_empty() && own.as_bytes().ct_eq(token.as_bytes()).into()
    }
}

impl fmt::Debug for ConsoleSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConsoleSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::ConsoleSecret;

    #[test]
    fn a_form_belongs_to_one_session() {
        let (one, other) = (ConsoleSecret::generate(), ConsoleSecret::generate());
        assert!(one.admits_form(&one.form_token()));
        assert!(!one.admits_form(&other.form_token()));
        assert!(!one.admits_form(""));
        assert_ne!(one.form_token(), one.expose());
        let read = ConsoleSecret::parse(one.expose()).unwrap();
        assert_eq!(read.hash(), one.hash());
        assert!(ConsoleSecret::parse("console_0").is_none());
        assert!(!format!("{one:?}").contains(&one.expose()[8..]));
    }
}
