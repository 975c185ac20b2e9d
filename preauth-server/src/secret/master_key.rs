//! Master keys: their file, and their ids.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use secrecy::zeroize::Zeroizing;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::files;
use crate::ids::random_bytes;

use super::derived_key::DerivedKey;

/// Bytes of a master key.
pub(super) const KEY_BYTES: usize = 32;
/// Bytes of a [`MasterKeyId`].
pub(super) const KEY_ID_BYTES: usize = 4;
/// Maximum number of keys in a file: one encrypts, and each further one is an unfinished rotation.
const MAX_KEYS: usize = 16;
/// What the derived key is for.
const LINKS: &[u8] = b"preauth supplier links 1";
const CURSORS: &[u8] = b"preauth event cursors 1";
/// Begins a comment in the file.
const COMMENT: char = '#';

/// The id of the master key that encrypted a secret: the beginning of the key's SHA-256, which
/// reveals nothing else about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MasterKeyId(pub(super) [u8; KEY_ID_BYTES]);

/// The text is not a master key's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("id of a master key must be 8 hexadecimal digits")]
pub struct MasterKeyIdError;

impl FromStr for MasterKeyId {
    type Err = MasterKeyIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut id = [0; KEY_ID_BYTES];
        hex::decode_to_slice(text, &mut id).map_err(|_| MasterKeyIdError)?;
        Ok(Self(id))
    }
}

/// A master key, ready to use.
#[derive(Clone)]
pub(super) struct MasterKey {
    pub(super) id: MasterKeyId,
    pub(super) cipher: XChaCha20Poly1305,
    /// The key of the links to the supplier's page.
    pub(super) links: DerivedKey,
    /// The key of the cursors of events.
    pub(super) cursors: DerivedKey,
}

/// The available master keys: the active one encrypts, all decrypt.
#[derive(Clone)]
pub(super) struct MasterKeys {
    pub(super) active: MasterKey,
    pub(super) others: Vec<MasterKey>,
}

/// Why a master key file could not be used.
#[derive(Debug, Error)]
pub enum MasterKeyFileError {
    /// It could not be read or written.
    #[error("cannot use master key file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// It contains no key.
    #[error("master key file {} holds no key; put 64 hexadecimal digits into it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A line is not a key.
    #[error("line {line} of master key file {} must be 64 hexadecimal digits", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// A repeated key, whose position would be ambiguous.
    #[error("line {line} of master key file {} repeats a key; remove it", path.display())]
    Repeated {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// It contains more keys than are ever needed.
    #[error(
        "master key file {} holds more than {MAX_KEYS} keys; remove those that seal nothing any \
         more", path.display()
    )]
    TooMany {
        /// The file.
        path: PathBuf,
    },
}

impl MasterKey {
    pub(super) fn new(key: &[u8; KEY_BYTES]) -> Self {
        let mut id = [0; KEY_ID_BYTES];
        for (target, byte) in id.iter_mut().zip(Sha256::digest(key)) {
            *target = byte;
        }
        Self {
            id: MasterKeyId(id),
            cipher: XChaCha20Poly1305::new(key.into()),
            links: DerivedKey::of(key, LINKS),
            cursors: DerivedKey::of(key, CURSORS),
        }
    }
}

impl MasterKeys {
    /// All keys, the active one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.active).chain(&self.others)
    }
}

/// The keys of a file, the first of which is active. Each is on a line of its own; empty lines and
/// text after `#` are ignored.
pub(super) fn read(path: &Path) -> Result<MasterKeys, MasterKeyFileError> {
    let text = files::read_secret(path).map_err(|cause| MasterKeyFileError::File {
        path: path.to_owned(),
        cause,
    })?;
    parse(path, &text)
}

/// The keys of a file, which is created with one new key, for its owner alone, if it does not
/// exist.
pub(super) fn read_or_create(path: &Path) -> Result<MasterKeys, MasterKeyFileError> {
    let key = Zeroizing::new(random_bytes::<KEY_BYTES>());
    let digits = Zeroizing::new(hex::encode(*key));
    match files::write_private(path, digits.as_bytes()) {
        Ok(()) => Ok(MasterKeys {
            active: MasterKey::new(&key),
            others: Vec::new(),
        }),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(path),
        Err(cause) => Err(MasterKeyFileError::File {
            path: path.to_owned(),
            cause,
        }),
    }
}

fn parse(path: &Path, text: &str) -> Result<MasterKeys, MasterKeyFileError> {
    let mut keys: Vec<MasterKey> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let (digits, _comment) = text.split_once(COMMENT).unwrap_or((text, ""));
        let digits = digits.trim();
        if digits.is_empty() {
            continue;
        }
        let path = || path.to_owned();
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        hex::decode_to_slice(digits, &mut *bytes)
            .map_err(|_| MasterKeyFileError::Form { path: path(), line })?;
        let key = MasterKey::new(&bytes);
        if keys.iter().any(|known| known.id == key.id) {
            return Err(MasterKeyFileError::Repeated { path: path(), line });
        }
        if keys.len() == MAX_KEYS {
            return Err(MasterKeyFileError::TooMany { path: path() });
        }
        keys.push(key);
    }
    let mut keys = keys.into_iter();
    let active = keys.next().ok_or_else(|| MasterKeyFileError::Empty {
        path: path.to_owned(),
    })?;
    let others = keys.collect();
    Ok(MasterKeys { active, others })
}

impl fmt::Display for MasterKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use secrecy::zeroize::ZeroizeOnDrop;

    use super::*;

    /// Compiles with the ciphers' own features alone.
    #[test]
    fn keys_are_zeroed_where_the_ciphers_hold_them() {
        const fn is_zeroed<T: ZeroizeOnDrop>() {}
        is_zeroed::<XChaCha20Poly1305>();
        // A keyed hash is two of these.
        is_zeroed::<Sha256>();
    }

    fn parsed(text: &str) -> Result<Vec<MasterKeyId>, String> {
        let keys = parse(Path::new("master.key"), text);
        let ids = keys.map(|keys| keys.iter().map(|key| key.id).collect());
        ids.map_err(|error| error.to_string())
    }

    fn line(byte: u8) -> String {
        hex::encode([byte; KEY_BYTES])
    }

    fn id(byte: u8) -> MasterKeyId {
        MasterKey::new(&[byte; KEY_BYTES]).id
    }

    #[test]
    fn a_line_is_a_key_and_comments_are_for_people() {
        let one = line(1);
        assert_eq!(parsed(&one), Ok(vec![id(1)]));
        let text = format!(
            "# since may\n\n{} # active\r\n  {one}\n",
            line(2).to_uppercase()
        );
        assert_eq!(parsed(&text), Ok(vec![id(2), id(1)]));
    }

    #[test]
    fn a_defect_is_reported_with_its_line_and_without_the_key() {
        let (one, two) = (line(1), line(2));
        let half = &one[1..];
        let many: Vec<String> = (0..17).map(line).collect();
        for (text, expected) in [
            (String::new(), "holds no key"),
            ("# none\n".to_owned(), "holds no key"),
            (format!("{two}\n{half}"), "line 2 of"),
            (format!("{one}0"), "line 1 of"),
            (format!("id:{one}"), "line 1 of"),
            (format!("{one}\n\n{one}"), "line 3 of"),
            (many.join("\n"), "more than 16 keys"),
        ] {
            let error = parsed(&text).unwrap_err();
            assert!(error.contains(expected), "{expected}: {error}");
            assert!(!error.contains(&half[..16]), "{error}");
        }
        assert_eq!(parsed(&many[..16].join("\n")).unwrap().len(), 16);
    }

    #[test]
    fn an_id_is_read_as_it_is_shown() {
        assert_eq!(id(1).to_string().parse(), Ok(id(1)));
        for wrong in ["", "72cd6e8", "72cd6e842", "72cd6e8g", &line(1)] {
            assert_eq!(wrong.parse::<MasterKeyId>(), Err(MasterKeyIdError));
        }
    }

    #[test]
    fn a_key_file_is_made_once_for_its_owner_alone_and_read_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let [first, second] = [0, 1].map(|_| read_or_create(&path).unwrap().active.id);
        assert_eq!(first, second);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
