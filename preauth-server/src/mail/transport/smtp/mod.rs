//! Sends mails to a mail server by SMTP.
//!
//! Each mail has a connection of its own, so that a failed one leaves nothing behind. A failure
//! before the address is named is one of the server or of the account, and no reason to give the
//! mail up; a later failure is one of this mail.

mod settings;
mod trouble;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Quit, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::{Error as SmtpError, response::Response};
use thiserror::Error;

use super::{NotTaken, Reason, Transport};
use crate::files;
use crate::mail::letterhead::OutgoingMail;

pub use settings::{SmtpLogin, SmtpSettings, SmtpTls};
pub(crate) use trouble::{PHRASES, Phrase};

use trouble::{Failure, Step, code_of, in_time};

/// Maximum time for connection, encryption and login together.
const OPENING: Duration = Duration::from_secs(20);
/// Maximum time for sending one mail after that.
const HANDING_OVER: Duration = Duration::from_secs(40);
/// Maximum time for QUIT; the mail was accepted before.
const CLOSING: Duration = Duration::from_secs(1);

/// Why the configuration of mails does not work; each text names the next step.
#[derive(Debug, Error)]
pub enum TransportError {
    /// The connection to the server cannot be encrypted.
    #[error(
        "cannot encrypt the way to the mail server; check that the platform's root certificates are installed"
    )]
    Tls(#[source] SmtpError),
    /// The password cannot be read.
    #[error("cannot read {}; put the password of the mail server's account there", path.display())]
    Password {
        /// The path of the file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
}

/// Sends mails to one mail server, which delivers them.
pub struct SmtpRelay {
    settings: SmtpSettings,
    /// The name of this server in EHLO.
    hello: ClientId,
    tls: Option<TlsParameters>,
    credentials: Option<Credentials>,
}

impl SmtpRelay {
    /// A relay through the configured server; `hello` is the domain of the sender.
    pub fn new(settings: SmtpSettings, hello: &str) -> Result<Self, TransportError> {
        let tls = match settings.tls {
            SmtpTls::None => None,
            SmtpTls::StartTls | SmtpTls::Implicit => {
                let tls = TlsParameters::new(settings.host.clone());
                Some(tls.map_err(TransportError::Tls)?)
            }
        };
        let credentials = settings.login.as_ref().map(credentials).transpose()?;
        Ok(Self {
            hello: ClientId::Domain(hello.to_owned()),
            tls,
            credentials,
            settings,
        })
    }

    /// An encrypted and authenticated connection; otherwise the failed step.
    async fn open(&self) -> Result<AsyncSmtpConnection, (Step, SmtpError)> {
        let SmtpSettings { host, port, .. } = &self.settings;
        let from_the_start = self
            .tls
            .clone()
            .filter(|_| self.settings.tls == SmtpTls::Implicit);
        let mut connection = AsyncSmtpConnection::connect_tokio1(
            (host.as_str(), *port),
            None,
            &self.hello,
            from_the_start,
            None,
        )
        .await
        .map_err(|error| (Step::Reaching, error))?;
        if self.settings.tls == SmtpTls::StartTls
            && let Some(tls) = &self.tls
        {
            let encrypted = connection.starttls(tls.clone(), &self.hello).await;
            encrypted.map_err(|error| (Step::Encrypting, error))?;
        }
        if let Some(credentials) = &self.credentials {
            let welcome = connection.auth(DEFAULT_MECHANISMS, credentials).await;
            welcome.map_err(|error| (Step::LoggingIn, error))?;
        }
        Ok(connection)
    }

    /// Connects, encrypts and logs in as for a mail, and sends none.
    ///
    /// # Errors
    /// The step that failed, and the next one.
    pub async fn check(&self) -> Result<(), Reason> {
        let ready = self.ready().await;
        let mut connection =
            ready.map_err(|(step, failure)| step.reason(&self.settings, &failure))?;
        // Its answer does not matter.
        let _ = tokio::time::timeout(CLOSING, connection.command(Quit)).await;
        Ok(())
    }

    /// A connection that can send a mail.
    async fn ready(&self) -> Result<AsyncSmtpConnection, (Step, Failure)> {
        let opened = tokio::time::timeout(OPENING, self.open()).await;
        let silence = |_| (Step::Reaching, Failure::silence(OPENING));
        opened
            .map_err(silence)?
            .map_err(|(step, error)| (step, error.into()))
    }
}

#[async_trait]
impl Transport for SmtpRelay {
    async fn hand_over(&self, mail: &OutgoingMail) -> Result<String, NotTaken> {
        let nobody = |(step, failure): (Step, Failure)| {
            NotTaken::Nobody(step.reason(&self.settings, &failure))
        };
        let mut connection = self.ready().await.map_err(nobody)?;
        let from = MailFrom::new(mail.envelope.from().cloned(), Vec::new());
        let greeted = in_time(OPENING, connection.command(from)).await;
        greeted.map_err(|failure| nobody((Step::NamingSender, failure)))?;
        let taken = in_time(HANDING_OVER, pass(&mut connection, mail)).await;
        let response = taken.map_err(|failure| {
            if failure.is_for_good {
                NotTaken::Refused(failure.reason)
            } else {
                NotTaken::NotYet(failure.reason)
            }
        })?;
        // Its answer does not matter.
        let _ = tokio::time::timeout(CLOSING, connection.command(Quit)).await;
        Ok(code_of(&response))
    }
}

fn credentials(login: &SmtpLogin) -> Result<Credentials, TransportError> {
    let password = files::read_secret(&login.password_file);
    let password = password.map_err(|cause| TransportError::Password {
        path: login.password_file.clone(),
        cause,
    })?;
    let password = password.trim_end_matches(['\r', '\n']).to_owned();
    Ok(Credentials::new(login.user.clone(), password))
}

async fn pass(
    connection: &mut AsyncSmtpConnection,
    mail: &OutgoingMail,
) -> Result<Response, SmtpError> {
    for address in mail.envelope.to() {
        let recipient = Rcpt::new(address.clone(), Vec::new());
        connection.command(recipient).await?;
    }
    connection.command(Data).await?;
    connection.message(&mail.bytes).await
}

impl fmt::Debug for SmtpRelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpRelay")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
