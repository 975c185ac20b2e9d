//! Failures of sending to a mail server, in words that name the next step.

use std::future::Future;
use std::time::Duration;

use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::response::Response;

use super::settings::{SmtpSettings, SmtpTls};
use crate::language::{Language, Text};
use crate::mail::transport::Reason;

/// Maximum number of characters of a server's answer that are stored or shown.
const MAX_CHARACTERS: usize = 300;

/// A step before the mail itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Reaching,
    Encrypting,
    LoggingIn,
    NamingSender,
}

/// What a failed step means, and the next step for the operator. Records have the English text, and the console
/// shows them in its reader's language.
#[derive(Clone, Copy)]
pub(crate) struct Phrase {
    pub(crate) what: Text,
    pub(crate) next: Text,
}

const REACHING_BY_TLS: Phrase = Phrase {
    what: Text::new("cannot be reached by TLS", "não pode ser acessado por TLS"),
    next: Text::new(
        "check mail.smtp_host, mail.smtp_port and mail.smtp_tls, and that this machine trusts the authority of its certificate",
        "confira mail.smtp_host, mail.smtp_port e mail.smtp_tls, e se esta máquina confia na autoridade do certificado dele",
    ),
};

const REACHING: Phrase = Phrase {
    what: Text::new("cannot be reached", "não pode ser acessado"),
    next: Text::new(
        "check mail.smtp_host, mail.smtp_port and mail.smtp_tls",
        "confira mail.smtp_host, mail.smtp_port e mail.smtp_tls",
    ),
};

const ENCRYPTING: Phrase = Phrase {
    what: Text::new(
        "does not encrypt the way by STARTTLS",
        "não criptografa a conexão por STARTTLS",
    ),
    next: Text::new(
        "check mail.smtp_tls, and that this machine trusts the authority of its certificate",
        "confira mail.smtp_tls, e se esta máquina confia na autoridade do certificado dele",
    ),
};

const LOGGING_IN: Phrase = Phrase {
    what: Text::new("refuses the login", "recusa o login"),
    next: Text::new(
        "correct mail.smtp_user, or the password in the file of mail.smtp_password_file, and restart the server",
        "corrija mail.smtp_user, ou a senha no arquivo de mail.smtp_password_file, e reinicie o servidor",
    ),
};

const NAMING_SENDER: Phrase = Phrase {
    what: Text::new(
        "takes no mail from this sender",
        "não aceita e-mails deste remetente",
    ),
    next: Text::new(
        "check that the account may send as mail.from",
        "confira se a conta pode enviar como mail.from",
    ),
};

/// Those of every step.
pub(crate) const PHRASES: [Phrase; 5] = [
    REACHING_BY_TLS,
    REACHING,
    ENCRYPTING,
    LOGGING_IN,
    NAMING_SENDER,
];

/// Why a step failed.
#[derive(Debug)]
pub(super) struct Failure {
    /// One bounded line, and its form for the log.
    pub(super) reason: Reason,
    /// Whether the server reported a permanent failure.
    pub(super) is_for_good: bool,
}

impl Step {
    /// The failed step, the server, the reason, and the next step for the operator.
    pub(super) fn reason(self, settings: &SmtpSettings, failure: &Failure) -> Reason {
        let SmtpSettings { host, port, .. } = settings;
        let Phrase { what, next } = match (self, settings.tls) {
            (Self::Reaching, SmtpTls::Implicit) => REACHING_BY_TLS,
            (Self::Reaching, SmtpTls::None | SmtpTls::StartTls) => REACHING,
            (Self::Encrypting, _) => ENCRYPTING,
            (Self::LoggingIn, _) => LOGGING_IN,
            (Self::NamingSender, _) => NAMING_SENDER,
        };
        let [what, next] = [what, next].map(|text| text.of(Language::English));
        let text = |why: &str| format!("{host}:{port} {what}: {why}; {next}");
        Reason {
            recorded: text(&failure.reason.recorded),
            logged: text(&failure.reason.logged),
        }
    }
}

impl Failure {
    pub(super) fn silence(limit: Duration) -> Self {
        Self {
            reason: format!("no answer within {} s", limit.as_secs()).into(),
            is_for_good: false,
        }
    }
}

impl From<SmtpError> for Failure {
    fn from(error: SmtpError) -> Self {
        Self {
            reason: Reason {
                // Its text includes its causes.
                recorded: shortened(&error.to_string()),
                logged: logged(&error),
            },
            is_for_good: error.is_permanent() && !is_of_server(&error),
        }
    }
}

/// Limits the time of a step.
pub(super) async fn in_time<T>(
    limit: Duration,
    step: impl Future<Output = Result<T, SmtpError>> + Send,
) -> Result<T, Failure> {
    match tokio::time::timeout(limit, step).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Failure::silence(limit)),
    }
}

/// The logged form of an error: of a server's answer only the codes.
fn logged(error: &SmtpError) -> String {
    if let Some(code) = error.status() {
        let words = std::error::Error::source(error).map(ToString::to_string);
        return codes(&code.to_string(), &words.unwrap_or_default());
    }
    if error.is_response() || error.is_client() {
        "an answer that cannot be understood".to_owned()
    } else {
        shortened(&error.to_string())
    }
}

/// Whether a refusal is of the server's own limits and rules (a login that is missing, RFC 4954; a daily limit or a
/// relay that is denied, RFC 3463), and not of the mail: an operator corrects the setting, or the next day begins.
fn is_of_server(error: &SmtpError) -> bool {
    let Some(code) = error.status() else {
        return false;
    };
    let words = std::error::Error::source(error).map(ToString::to_string);
    let codes = codes(&code.to_string(), &words.unwrap_or_default());
    let (code, enhanced) = codes.split_once(' ').unwrap_or((&codes, ""));
    code == "530" || enhanced == "5.4.5" || enhanced.starts_with("5.7.")
}

/// The codes of an answer: `250 2.0.0`.
pub(super) fn code_of(response: &Response) -> String {
    codes(
        &response.code().to_string(),
        response.first_line().unwrap_or_default(),
    )
}

/// The reply code, with the enhanced one if the words begin with it (RFC 3463).
fn codes(code: &str, words: &str) -> String {
    let first = words.split_whitespace().next().unwrap_or_default();
    let parts: Vec<&str> = first.split('.').collect();
    let is_number = |part: &&str| {
        (1..=3).contains(&part.len()) && part.bytes().all(|letter| letter.is_ascii_digit())
    };
    if parts.len() == 3 && parts.iter().all(is_number) {
        format!("{code} {first}")
    } else {
        code.to_owned()
    }
}

/// A server's text on one line, cut: it is shown to people.
pub(super) fn shortened(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_control() || letter.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MAX_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::{codes, shortened};

    #[test]
    fn only_the_codes_of_an_answer_are_logged() {
        for (words, logged) in [
            ("5.1.1 <ana@example.com> no such user", "550 5.1.1"),
            ("<ana@example.com> no such user", "550"),
            ("5.1.ana@example.com", "550"),
            ("5.1", "550"),
            ("", "550"),
        ] {
            assert_eq!(codes("550", words), logged);
        }
    }

    #[test]
    fn a_servers_words_are_one_bounded_line() {
        assert_eq!(
            shortened(" no\r\n such\tuser\u{1b}[31m"),
            "no such user [31m"
        );
        assert_eq!(shortened(&"x".repeat(400)).len(), 300);
    }
}
