//! Why a command failed, and the exit code of its process.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use preauth_core::value::OperationId;
use thiserror::Error;

use super::advice;
use super::place::PlaceError;
use crate::printable::printable;

/// Why an administration command failed. Each failure has its exit code, which
/// `docs/command-line.md` documents for scripts.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The platform refused the request; repeating it unchanged cannot help.
    #[error(transparent)]
    Refused(Refusal),
    /// No company has the tax id.
    #[error("no company has the CNPJ {0}; `company list` shows them all")]
    NoCompany(String),
    /// No user has the address.
    #[error("no user of the company has the e-mail address {0}; `user list` shows them all")]
    NoUser(String),
    /// The offer came without a file.
    #[error("operation {0} came without an invoice file")]
    NoFile(OperationId),
    /// The arguments are incomplete or contradict each other.
    #[error("{0}")]
    Usage(String),
    /// The platform or its token could not be determined.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The platform cannot be reached.
    #[error(
        "the platform at {url} does not answer; is the server running, and is this its platform address?"
    )]
    Unreachable {
        /// Its address.
        url: String,
        /// The error of the HTTP client.
        #[source]
        cause: reqwest::Error,
    },
    /// The server does not accept the token.
    #[error("the platform at {url} refuses the operator token from {source_name}")]
    TokenRefused {
        /// The server's address.
        url: String,
        /// Where the token was read.
        source_name: String,
    },
    /// The server did not prove that it holds the token, so the token was not sent to it.
    #[error(
        "{url} does not prove to be the server of the operator token from {source_name}, which it was not given: {why}"
    )]
    Unproven {
        /// The server's address.
        url: String,
        /// Where the token was read.
        source_name: String,
        /// Why the proof failed.
        why: Unproven,
    },
    /// The platform is unavailable; nothing was done.
    #[error(transparent)]
    Unavailable(Refusal),
    /// The answer is not the platform API's.
    #[error(
        "{url} answers with status {status} like no platform API; is this the platform's address?"
    )]
    Stranger {
        /// The server's address.
        url: String,
        /// The status of the answer.
        status: u16,
    },
    /// The operator answered no.
    #[error("nothing was done")]
    Declined,
    /// There is no terminal for the question.
    #[error("this asks before it goes on, and nobody can answer here; give --yes to go on")]
    CannotAsk,
    /// The request was sent, and its outcome is unknown.
    #[error("whether it was done is not known: {}", next_step(key.as_deref()))]
    Unknown {
        /// The key under which it may be repeated.
        key: Option<String>,
        /// Why it is unknown.
        #[source]
        cause: Cut,
    },
    /// It was done, but this version cannot read the answer.
    #[error("it was done, but the platform's answer is not understood; are both of one version?")]
    NotUnderstood(#[source] serde_json::Error),
    /// A received file differs from the one that was sent with the offer.
    #[error("the file did not arrive as it was sent, and nothing is saved; try again")]
    Damaged,
    /// A file could not be saved.
    #[error("cannot write {}", path.display())]
    NotSaved {
        /// The target path.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The output could not be written.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

/// Why the outcome of a request is unknown.
#[derive(Debug, Error)]
pub(crate) enum Cut {
    /// The connection ended, or took too long.
    #[error("the answer did not arrive")]
    Connection(#[source] reqwest::Error),
    /// The server failed with an internal error.
    #[error(transparent)]
    Server(Refusal),
}

/// An unsuccessful answer of the API.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) struct Refusal {
    pub(super) status: u16,
    pub(super) code: String,
    /// One sentence per problem, in the API's language, with the field if there is one.
    pub(super) sentences: Vec<(Option<String>, String)>,
    /// The operation that already has the invoice, if the answer names one.
    pub(super) existing: Option<i64>,
    pub(super) request_id: Option<String>,
}

/// Why a server is not accepted as the intended one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Unproven {
    /// Its answer has another status.
    #[error("it answers with status {0}; is it a server of this version?")]
    Status(u16),
    /// Its proof is missing or malformed.
    #[error("it does not hold the token")]
    NoProof,
    /// Another server forwards the requests.
    #[error(
        "one that holds the token answers behind it, at another address; if that is a tunnel of yours, \
         give --insecure-http"
    )]
    Elsewhere,
}

impl Failure {
    /// The exit code of the process: 1 refused, 2 wrong usage, 3 platform not reached or not able,
    /// 4 not confirmed, 5 outcome unknown.
    #[must_use]
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Refused(_)
            | Self::NoCompany(_)
            | Self::NoUser(_)
            | Self::NoFile(_)
            | Self::NotSaved { .. }
            | Self::Output(_) => 1,
            Self::Usage(_) | Self::Place(_) => 2,
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

/// How to find out the outcome of a request.
fn next_step(key: Option<&str>) -> String {
    match key {
        Some(key) => {
            format!("repeat the command with --idempotency-key {key}, and it is done once")
        }
        None => "look before you repeat it".to_owned(),
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", printable(&self.code), self.status)?;
        for (field, sentence) in &self.sentences {
            match field {
                Some(field) => write!(f, "\n  {}: {}", printable(field), printable(sentence))?,
                None => write!(f, "\n  {}", printable(sentence))?,
            }
        }
        if let Some(existing) = self.existing {
            write!(f, "\n  operation {existing} is in the way")?;
        }
        if let Some(advice) = advice::on(&self.code) {
            write!(f, "\n  next: {advice}")?;
        }
        if let Some(id) = &self.request_id {
            write!(f, "\n  request id: {}", printable(id))?;
        }
        Ok(())
    }
}
