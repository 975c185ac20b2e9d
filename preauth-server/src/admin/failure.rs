//! Why a command failed, and the exit code of its process.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use preauth_core::ErrorCode;
use preauth_core::value::OperationId;

use super::advice;
use super::place::PlaceError;
use super::words::{self, caused};
use crate::access::{MIN_FRAGMENT_CHARACTERS, PREFIX};
use crate::http::{english, hold_reason_of, sentence};
use crate::language::Language;
use crate::log::chain;
use crate::printable::printable;
use crate::stdout::OutputError;

/// Why an administration command failed. Each failure has its exit code, which
/// `docs/command-line.md` documents for scripts.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The platform refused the request; repeating it unchanged cannot help.
    Refused(Refusal),
    /// No company has the tax id.
    NoCompany(String),
    /// No user has the address.
    NoUser(String),
    /// No operator has the name.
    NoOperator(String),
    /// The offer came without a file.
    NoFile(OperationId),
    /// The output file exists already.
    Taken(PathBuf),
    /// The text is neither a key nor the beginning of one.
    NotAKey,
    /// The HTTP client cannot be created.
    NoClient(reqwest::Error),
    /// The platform or its token could not be determined.
    Place(PlaceError),
    /// The platform cannot be reached.
    Unreachable {
        /// Its address.
        url: String,
        /// The error of the HTTP client.
        cause: reqwest::Error,
    },
    /// The server does not accept the token.
    TokenRefused {
        /// The server's address.
        url: String,
        /// Where the token was read.
        source_name: String,
    },
    /// The server did not prove that it holds the token, so the token was not sent to it.
    Unproven {
        /// The server's address.
        url: String,
        /// Where the token was read.
        source_name: String,
        /// Why the proof failed.
        why: Unproven,
    },
    /// The platform is unavailable; nothing was done.
    Unavailable(Refusal),
    /// The answer is not the platform API's.
    Stranger {
        /// The server's address.
        url: String,
        /// The status of the answer.
        status: u16,
    },
    /// The operator answered no.
    Declined,
    /// Confirmation is needed, and there is no terminal to ask at.
    CannotAsk,
    /// The request was sent, and its outcome is unknown.
    Unknown {
        /// The key under which it may be repeated.
        key: Option<String>,
        /// Why it is unknown.
        cause: UnknownReason,
    },
    /// The request was processed, but this version cannot read the answer.
    NotUnderstood(serde_json::Error),
    /// A received file differs from the one that was sent with the offer.
    Damaged,
    /// A file could not be saved.
    NotSaved {
        /// The target path.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The output could not be written.
    Output(io::Error),
}

/// Why the outcome of a request is unknown.
#[derive(Debug)]
pub(crate) enum UnknownReason {
    /// The connection ended, or took too long.
    Connection(reqwest::Error),
    /// The server failed with an internal error.
    Server(Box<Refusal>),
}

/// An unsuccessful answer of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(super) status: u16,
    pub(super) code: String,
    /// One sentence per problem, in the API's language, with the field if there is one.
    pub(super) sentences: Vec<(Option<String>, String)>,
    /// The operation that already has the invoice, if the answer names one.
    pub(super) existing: Option<i64>,
    pub(super) request_id: Option<String>,
    /// The next step, where a command knows a better one than the code has.
    pub(super) next: Option<Box<str>>,
}

/// Why a server is not accepted as the intended one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unproven {
    /// Its answer has another status.
    Status(u16),
    /// Its proof is missing or malformed.
    NoProof,
    /// Another server forwards the requests.
    Elsewhere,
}

impl Failure {
    /// The same, with this next step if `is_meant` accepts the refusal.
    pub(super) fn advised(self, is_meant: impl FnOnce(&Refusal) -> bool, next: &str) -> Self {
        match self {
            Self::Refused(refusal) if is_meant(&refusal) => Self::Refused(Refusal {
                next: Some(next.into()),
                ..refusal
            }),
            other => other,
        }
    }

    /// The exit code of the process: 1 refused, 2 wrong usage, 3 platform not reached or not able,
    /// 4 not confirmed, 5 outcome unknown.
    #[must_use]
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Refused(_)
            | Self::NoCompany(_)
            | Self::NoUser(_)
            | Self::NoOperator(_)
            | Self::NoFile(_)
            | Self::NotSaved { .. }
            | Self::Output(_) => 1,
            Self::Taken(_) | Self::NotAKey | Self::NoClient(_) | Self::Place(_) => 2,
            Self::Unreachable { .. }
            | Self::TokenRefused { .. }
            | Self::Unproven { .. }
            | Self::Unavailable(_)
            | Self::Damaged
            | Self::Stranger { .. } => 3,
            Self::Declined | Self::CannotAsk => 4,
            Self::Unknown { .. } | Self::NotUnderstood(_) => 5,
        })
    }
}

impl Failure {
    /// The text for the operator, with the causes.
    #[must_use]
    pub(crate) fn text(&self, language: Language) -> String {
        match self {
            Self::Refused(refusal) | Self::Unavailable(refusal) => refusal.text(language),
            Self::NoCompany(cnpj) => words::no_company(language, cnpj),
            Self::NoUser(email) => words::no_user(language, email),
            Self::NoOperator(name) => words::no_operator(language, name),
            Self::NoFile(operation) => words::no_file(language, *operation),
            Self::Taken(path) => words::taken(language, &path.display().to_string()),
            Self::NotAKey => words::not_a_key(language, MIN_FRAGMENT_CHARACTERS, PREFIX),
            Self::NoClient(cause) => chain(cause),
            Self::Place(error) => error.text(language),
            Self::Unreachable { url, cause } => caused(&words::unreachable(language, url), cause),
            Self::TokenRefused { url, source_name } => {
                words::token_refused(language, url, source_name)
            }
            Self::Unproven {
                url,
                source_name,
                why,
            } => words::unproven(language, url, source_name, &why.text(language)),
            Self::Stranger { url, status } => words::stranger(language, url, *status),
            Self::Declined => words::DECLINED.of(language).to_owned(),
            Self::CannotAsk => words::CANNOT_ASK.of(language).to_owned(),
            Self::Unknown { key, cause } => {
                let next_step = next_step(key.as_deref(), language);
                let cause = cause.text(language);
                format!("{}: {cause}", words::unknown(language, &next_step))
            }
            Self::NotUnderstood(cause) => caused(words::NOT_UNDERSTOOD.of(language), cause),
            Self::Damaged => words::DAMAGED.of(language).to_owned(),
            Self::NotSaved { path, cause } => {
                let path = path.display().to_string();
                caused(&words::not_saved(language, &path), cause)
            }
            Self::Output(cause) => caused(words::OUTPUT.of(language), cause),
        }
    }

    /// The line that reports it.
    #[must_use]
    pub(crate) fn report(&self, language: Language) -> String {
        words::failure_line(language, &self.text(language))
    }
}

/// How to find out the outcome of a request.
fn next_step(key: Option<&str>, language: Language) -> String {
    match key {
        Some(key) => words::repeat_with(language, key),
        None => words::LOOK_FIRST.of(language).to_owned(),
    }
}

impl UnknownReason {
    fn text(&self, language: Language) -> String {
        match self {
            Self::Connection(cause) => caused(words::NO_ANSWER.of(language), cause),
            Self::Server(refusal) => refusal.text(language),
        }
    }
}

impl Unproven {
    fn text(self, language: Language) -> String {
        match self {
            Self::Status(404) => words::integration_port(language),
            Self::Status(status) => words::unproven_status(language, status),
            Self::NoProof => words::NO_PROOF.of(language).to_owned(),
            Self::Elsewhere => words::ELSEWHERE.of(language).to_owned(),
        }
    }
}

impl Refusal {
    /// Whether a problem of this field is among its sentences.
    pub(super) fn names(&self, field: &str) -> bool {
        let mut fields = self
            .sentences
            .iter()
            .filter_map(|(name, _)| name.as_deref());
        fields.any(|name| name == field)
    }

    /// Code, meaning, problems and next step. In English the code is explained, and a message of
    /// the API follows only when it states more than its code does.
    fn text(&self, language: Language) -> String {
        let code = ErrorCode::parse(&self.code).ok();
        let mut text = format!("{} ({})", printable(&self.code), self.status);
        let general = match language {
            Language::Portuguese => None,
            Language::English => code.map(sentence),
        };
        if let Some(code) = code.filter(|_| general.is_some()) {
            text.push_str(": ");
            text.push_str(english(code));
        }
        let mut line = |line: &str| {
            text.push_str("\n  ");
            text.push_str(line);
        };
        for (field, sentence) in &self.sentences {
            match field {
                Some(field) => line(&format!("{}: {}", printable(field), printable(sentence))),
                None if general == Some(sentence.as_str()) => {}
                // It states no more than the command's own next step.
                None if general.is_some() && self.next.is_some() => {}
                None => line(&printable(sentence)),
            }
        }
        if let Some(existing) = self.existing {
            line(&words::existing(language, existing));
        }
        let mut sentences = self.sentences.iter();
        let hold = sentences.find_map(|(_, sentence)| hold_reason_of(sentence));
        let general = hold.map(advice::on_hold).or_else(|| advice::on(&self.code));
        let general = general.map(|advice| advice.of(language));
        if let Some(advice) = self.next.as_deref().or(general) {
            line(&words::next(language, advice));
        }
        if let Some(id) = &self.request_id {
            line(&words::request_id(language, &printable(id)));
        }
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Language::English))
    }
}

impl Error for Failure {}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        Self::Place(error)
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::Output(error.0)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
