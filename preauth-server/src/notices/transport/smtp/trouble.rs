//! What goes wrong on the way to a mail server, in words that name the next step.

use std::future::Future;
use std::time::Duration;

use lettre::transport::smtp::Error as SmtpError;

use crate::notices::settings::{SmtpSettings, SmtpTls};

/// More of a server's answer is neither kept nor shown.
const MOST_CHARACTERS: usize = 300;

/// A step on the way to the server, before it hears of any mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Reaching,
    Encrypting,
    LoggingIn,
    NamingSender,
}

/// Why a step went wrong.
#[derive(Debug)]
pub(super) struct Failure {
    /// One bounded line.
    pub(super) text: String,
    /// Whether the server said that it will always say so.
    pub(super) is_for_good: bool,
}

impl Step {
    /// What went wrong for whom, and what an operator does about it.
    pub(super) fn told(self, settings: &SmtpSettings, failure: &Failure) -> String {
        let SmtpSettings { host, port, .. } = settings;
        let (what, next) = match (self, settings.tls) {
            (Self::Reaching, SmtpTls::Implicit) => (
                "cannot be reached by TLS",
                "check mail.smtp_host, mail.smtp_port and mail.smtp_tls, and that this machine \
                 trusts the authority of its certificate",
            ),
            (Self::Reaching, SmtpTls::None | SmtpTls::StartTls) => (
                "cannot be reached",
                "check mail.smtp_host, mail.smtp_port and mail.smtp_tls",
            ),
            (Self::Encrypting, _) => (
                "does not encrypt the way by STARTTLS",
                "check mail.smtp_tls, and that this machine trusts the authority of its certificate",
            ),
            (Self::LoggingIn, _) => (
                "refuses the login",
                "correct mail.smtp_user, or the password in the file of mail.smtp_password_file, \
                 and restart the server",
            ),
            (Self::NamingSender, _) => (
                "takes no mail from this sender",
                "check that the account may send as mail.from",
            ),
        };
        format!("{host}:{port} {what}: {}; {next}", failure.text)
    }
}

impl Failure {
    pub(super) fn silence(limit: Duration) -> Self {
        Self {
            text: format!("no answer within {} s", limit.as_secs()),
            is_for_good: false,
        }
    }
}

impl From<SmtpError> for Failure {
    fn from(error: SmtpError) -> Self {
        Self {
            // Its text holds its causes.
            text: shortened(&error.to_string()),
            is_for_good: error.is_permanent(),
        }
    }
}

/// Awaits a step for so long at most.
pub(super) async fn in_time<T>(
    limit: Duration,
    step: impl Future<Output = Result<T, SmtpError>> + Send,
) -> Result<T, Failure> {
    match tokio::time::timeout(limit, step).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Failure::silence(limit)),
    }
}

/// A server's words on one line, bounded: they are shown to people.
pub(super) fn shortened(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_control() || letter.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MOST_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_servers_words_are_one_bounded_line() {
        assert_eq!(
            shortened(" no\r\n such\tuser\u{1b}[31m"),
            "no such user [31m"
        );
        assert_eq!(shortened(&"x".repeat(400)).len(), 300);
    }
}
