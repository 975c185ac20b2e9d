//! The configuration of mails.

use std::path::Path;
use std::sync::Arc;

use crate::live::Live;

use super::letterhead::Letterhead;
use super::sender::MailParts;
use super::share::MailLimits;
use super::transport::{Folder, SmtpRelay, SmtpSettings, Transport, TransportError};

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
    pub fn parts(&self, data: &Path) -> Result<MailParts, TransportError> {
        let transport: Arc<dyn Transport> = match &self.smtp {
            Some(smtp) => {
                let hello = self.letterhead.from.email.domain();
                Arc::new(SmtpRelay::new(smtp.clone(), hello)?)
            }
            None => Arc::new(Folder::in_data(data)),
        };
        Ok(MailParts {
            letterhead: self.letterhead.clone(),
            limits: Live::new(self.limits),
            transport,
        })
    }
}
