//! Where mails go, as configured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::letterhead::Letterhead;
use super::sender::MailDesk;
use super::share::MailLimits;
use super::transport::{Folder, SmtpRelay, Transport, TransportError};

/// Everything that an operator decides about mails.
#[derive(Clone, Debug)]
pub struct MailSettings {
    /// What all mails have in common.
    pub letterhead: Letterhead,
    /// Offers and invitations that are sent in a day.
    pub limits: MailLimits,
    /// The mail server; without one mails become files in the data folder.
    pub smtp: Option<SmtpSettings>,
}

impl MailSettings {
    /// What sends mails by these settings; `data` is where they become files without a mail server.
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

/// A mail server, and how to reach it.
#[derive(Clone, Debug)]
pub struct SmtpSettings {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the way there is encrypted.
    pub tls: SmtpTls,
    /// Our account there, if it wants one.
    pub login: Option<SmtpLogin>,
}

/// An account at a mail server.
#[derive(Clone, Debug)]
pub struct SmtpLogin {
    /// Its name.
    pub user: String,
    /// The file that holds its password.
    pub password_file: PathBuf,
}

/// How the way to a mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// Not at all: for a relay on this machine.
    None,
    /// From the STARTTLS command on, and never without.
    StartTls,
    /// From the first byte.
    Implicit,
}

impl SmtpTls {
    /// The port that is usual for it.
    #[must_use]
    pub const fn usual_port(self) -> u16 {
        match self {
            Self::None => 25,
            Self::StartTls => 587,
            Self::Implicit => 465,
        }
    }
}
