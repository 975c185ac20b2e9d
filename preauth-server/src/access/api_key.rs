//! API keys: `service_sk_`, 192 random bits, and a checksum that detects a typing error without a
//! look-up (contract, "Authentication").

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use super::KeyHash;
use super::checked_secret;

/// The prefix of every key.
pub const PREFIX: &str = "service_sk_";
/// Number of characters of the clear text that are stored to recognise a key: the prefix and four
/// more.
const SHOWN_CHARACTERS: usize = 15;
/// Minimum length of a search: the prefix and two digits, so that it reads only a part of all keys.
pub const MIN_FRAGMENT_CHARACTERS: usize = PREFIX.len() + 2;
/// The character after the last hexadecimal digit.
const AFTER_DIGITS: char = 'g';

/// A new key; its clear text is shown once and not stored.
#[derive(Debug)]
pub struct NewApiKey {
    /// The whole key.
    pub clear_text: SecretString,
    /// Its stored hash.
    pub hash: KeyHash,
    /// Its first characters.
    pub prefix: String,
}

impl NewApiKey {
    /// Generates a key.
    #[must_use]
    pub fn generate() -> Self {
        let clear_text = checked_secret::generate(PREFIX);
        let text = clear_text.expose_secret();
        Self {
            hash: checked_secret::hash(text),
            prefix: text.chars().take(SHOWN_CHARACTERS).collect(),
            clear_text,
        }
    }
}

/// The hash of a presented key; `None` when it cannot be a key.
#[must_use]
pub fn hash_of_presented(text: &str) -> Option<KeyHash> {
    checked_secret::hash_of_presented(PREFIX, text)
}

/// The part of a leaked text that is safe to keep: the beginning of the key, and the hash of a whole key.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyFragment {
    prefix: String,
    hash: Option<KeyHash>,
}

/// Why a text does not identify a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "neither a key nor the beginning of one: {} characters or more, from {} on, are needed",
    MIN_FRAGMENT_CHARACTERS,
    PREFIX
)]
pub struct NoFragment;

impl KeyFragment {
    /// Extracts a key, or its beginning, from a text that contains it: a line of a log, a header, a
    /// prefix followed by an ellipsis.
    pub fn cut(text: &str) -> Result<Self, NoFragment> {
        let (_, body) = text.split_once(PREFIX).ok_or(NoFragment)?;
        let digits = body.bytes().take_while(|byte| is_digit(*byte)).count();
        let found = format!("{PREFIX}{}", body.get(..digits).unwrap_or_default());
        if found.len() < MIN_FRAGMENT_CHARACTERS {
            return Err(NoFragment);
        }
        let whole = hash_of_presented(&found);
        let prefix = found.chars().take(SHOWN_CHARACTERS).collect();
        Ok(Self {
            prefix,
            hash: whole,
        })
    }

    /// The beginning of the key, at most as long as the stored prefix.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The smallest text after all texts that begin with the prefix, in the order of bytes.
    #[must_use]
    pub fn end(&self) -> String {
        format!("{}{AFTER_DIGITS}", self.prefix)
    }

    /// The hash, when the text contained the whole key.
    #[must_use]
    pub const fn hash(&self) -> Option<KeyHash> {
        self.hash
    }
}

impl fmt::Debug for KeyFragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFragment")
            .field("prefix", &self.prefix)
            .field("is_whole", &self.hash.is_some())
            .finish()
    }
}

const fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::{KeyFragment, NewApiKey, hash_of_presented};
    use secrecy::ExposeSecret;

    #[test]
    fn a_new_key_is_recognised() {
        let key = NewApiKey::generate();
        let text = key.clear_text.expose_secret();
        assert!(text.starts_with(&key.prefix), "the prefix is of the key");
        assert_eq!(hash_of_presented(text), Some(key.hash));
    }

    #[test]
    fn a_key_with_one_character_changed_is_no_key() {
        let key = NewApiKey::generate();
        let text = key.clear_text.expose_secret();
        for index in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[index] = if bytes[index] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(hash_of_presented(&changed), None, "{index}");
        }
    }

    #[test]
    fn a_leaked_text_is_cut_to_what_opens_nothing() {
        let key = NewApiKey::generate();
        let text = key.clear_text.expose_secret();
        let whole = KeyFragment::cut(&format!("Authorization: Bearer {text}\r\n")).unwrap();
        assert_eq!(whole.prefix(), key.prefix);
        assert_eq!(whole.hash(), Some(key.hash));
        assert!(!format!("{whole:?}").contains(&text[..20]));
        let (most, _) = text.split_at(text.len() - 1);
        for part in [most, &text[..15], &format!("{}…", &text[..15])] {
            let part = KeyFragment::cut(part).unwrap();
            assert_eq!((part.prefix(), part.hash()), (&*key.prefix, None));
        }
        let short = KeyFragment::cut("service_sk_ab...").unwrap();
        assert_eq!(short.prefix(), "service_sk_ab");
        for refused in [
            "",
            "service_sk_",
            "service_sk_a",
            "service_sk_é1",
            "ab12",
            "SERVICE_SK_ab12",
        ] {
            assert!(KeyFragment::cut(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_range_holds_what_begins_alike_and_nothing_else() {
        let sought = KeyFragment::cut("service_sk_ab").unwrap();
        let (from, to) = (sought.prefix().to_owned(), sought.end());
        for (prefix, is_within) in [
            ("service_sk_ab00", true),
            ("service_sk_abff", true),
            ("service_sk_aaff", false),
            ("service_sk_ac00", false),
        ] {
            let within = (from.as_str()..to.as_str()).contains(&prefix);
            assert_eq!(within, is_within, "{prefix}");
        }
    }

    #[test]
    fn strange_texts_are_no_keys() {
        for text in [
            "",
            "service_sk_",
            "service_sk_é",
            "Bearer x",
            &"service_sk_".repeat(9),
        ] {
            assert_eq!(hash_of_presented(text), None, "{text}");
        }
    }
}
