//! The configuration of mails.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::letterhead::Letterhead;
use super::sender::MailDesk;
use super::share::MailLimits;
use super::transport::{Folder, SmtpRelay, Transport, TransportError};

/// The settings of mails.
#[derive(Clone, Debug)]
pub struct MailSettings {
    /// Common to all mails.
    pub letterhead: Letterhead,
    /// The daily limits of offers and invitations.
    pub limits: MailLimits,
    /// The mail server; without one mails become files in the data folder.
    pub smtp: Option<SmtpSettings>,
}

impl MailSettings {
    /// Builds mails by these settings; without a mail server they become files in `data`.
    pub fn desk(&self, data: &Path) -> Result<MailDesk, TransportError> {
        let transport: Arc<dyn Transport> = match &self.smtp {
            Some(smtp) => {
                let hello = self.letterhead.from.email.domain();
                Arc::new(SmtpRelay::new(smtp.clone(), hello)?)
            }
            None => Arc::new(Folder::in_data(data)),
        };
        Ok(MailDesk {
            letterhead: self.letterhead.clone(),
            limits: self.limits,
            transport,
        })
    }
}

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
