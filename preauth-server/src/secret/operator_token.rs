//! The token of the private listener.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use thiserror::Error;

use crate::files;
use crate::ids::random_bytes;

/// The token's file in a data folder.
const FILE_NAME: &str = "platform-token";
/// Minimum length of a token, so that it cannot be guessed.
const MIN_CHARACTERS: usize = 16;

/// Why a token file could not be used.
#[derive(Debug, Error)]
pub enum TokenFileError {
    /// It could not be read or written.
    #[error("cannot use token file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// It contains fewer than 16 characters.
    #[error("token file {} holds fewer than 16 characters; put a longer token into it", path.display())]
    TooShort {
        /// The file.
        path: PathBuf,
    },
}

/// The token that operators present on the private listener.
#[derive(Clone)]
pub struct OperatorToken(SecretString);

impl OperatorToken {
    /// Parses a configured token; `None` when it is shorter than 16 characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        (text.chars().count() >= MIN_CHARACTERS).then(|| Self::of(text))
    }

    pub(super) fn of(text: &str) -> Self {
        Self(text.to_owned().into())
    }

    /// Generates a token.
    #[must_use]
    pub fn generate() -> Self {
        let digits = Zeroizing::new(hex::encode(*Zeroizing::new(random_bytes::<24>())));
        Self(format!("preauth_op_{}", digits.as_str()).into())
    }

    /// The token's file in a data folder.
    #[must_use]
    pub fn file_in(data: &Path) -> PathBuf {
        data.join(FILE_NAME)
    }

    /// The token in the file `path`.
    pub fn open(path: &Path) -> Result<Self, TokenFileError> {
        let text = files::read_secret(path).map_err(|cause| TokenFileError::File {
            path: path.to_owned(),
            cause,
        })?;
        Self::parse(text.trim()).ok_or_else(|| TokenFileError::TooShort {
            path: path.to_owned(),
        })
    }

    /// The token in the file `path`, or a new one that is stored there for its owner alone; `true`
    /// when it is new.
    pub fn open_or_create(path: &Path) -> Result<(Self, bool), TokenFileError> {
        let new = Self::generate();
        match files::write_private(path, new.expose().as_bytes()) {
            Ok(()) => Ok((new, true)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Ok((Self::open(path)?, false))
            }
            Err(cause) => Err(TokenFileError::File {
                path: path.to_owned(),
                cause,
            }),
        }
    }

    /// Whether `presented` is this token, compared in constant time.
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
