//! The location of a database, parsed once.

use std::fmt;
use std::path::Path;

use super::OpenError;

/// The location of a database, and whether its network is trusted without a certificate.
///
/// Built from a text alone it is not trusted: a PostgreSQL server on another machine then needs
/// `sslmode=verify-full`.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    text: String,
    network_is_private: bool,
}

/// The kind of database that a URL names.
pub(super) enum Kind<'a> {
    Sqlite(&'a str),
    Postgres,
}

impl DatabaseUrl {
    /// A database on a network that the operator declares private, with or without certificate.
    #[must_use]
    pub fn on_private_network(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            network_is_private: true,
        }
    }

    /// Another database, with what the operator declares of the network.
    #[must_use]
    pub fn another(&self, text: String) -> Self {
        Self {
            text,
            network_is_private: self.network_is_private,
        }
    }

    /// Whether it names a PostgreSQL database, which several instances may share.
    #[must_use]
    pub fn is_postgres(&self) -> bool {
        matches!(self.kind(), Ok(Kind::Postgres))
    }

    /// The file of a SQLite database.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self.kind() {
            Ok(Kind::Sqlite(path)) => Some(path.as_ref()),
            Ok(Kind::Postgres) | Err(_) => None,
        }
    }

    pub(super) fn kind(&self) -> Result<Kind<'_>, OpenError> {
        match self.text.split_once("://") {
            Some(("sqlite", path)) => Ok(Kind::Sqlite(path)),
            Some(("postgres" | "postgresql", _)) => Ok(Kind::Postgres),
            Some(_) | None => Err(OpenError::UnknownScheme),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) const fn network_is_private(&self) -> bool {
        self.network_is_private
    }
}

impl From<String> for DatabaseUrl {
    fn from(text: String) -> Self {
        Self {
            text,
            network_is_private: false,
        }
    }
}

impl From<&str> for DatabaseUrl {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for DatabaseUrl {
    fn from(text: &String) -> Self {
        text.to_owned().into()
    }
}

impl From<&Self> for DatabaseUrl {
    fn from(url: &Self) -> Self {
        url.clone()
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(..)")
    }
}
