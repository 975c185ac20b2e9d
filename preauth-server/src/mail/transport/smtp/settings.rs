//! The settings of a mail server.

use std::path::PathBuf;

/// A mail server and its connection.
#[derive(Clone, Debug)]
pub struct SmtpSettings {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The encryption of the connection.
    pub tls: SmtpTls,
    /// The account at the server, if it requires one.
    pub login: Option<SmtpLogin>,
}

/// An account at a mail server.
#[derive(Clone, Debug)]
pub struct SmtpLogin {
    /// Its user name.
    pub user: String,
    /// The file that holds its password.
    pub password_file: PathBuf,
}

/// The encryption of the connection to a mail server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// None: for a relay on this machine.
    None,
    /// STARTTLS, required.
    StartTls,
    /// TLS from the first byte.
    Implicit,
}

impl SmtpTls {
    /// Its usual port.
    #[must_use]
    pub const fn usual_port(self) -> u16 {
        match self {
            Self::None => 25,
            Self::StartTls => 587,
            Self::Implicit => 465,
        }
    }
}
