//! The text of an error: one line for logs and support.

use std::fmt;

use preauth_core::value::escaped;

use super::line::beginning;
use super::{Error, ErrorKind};

/// Maximum number of problems shown.
const MAX_PROBLEMS: usize = 5;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.inner.kind {
            ErrorKind::Config => "the client is set up wrongly",
            ErrorKind::Randomness => "no idempotency key could be drawn",
            ErrorKind::File => "the invoice file could not be read",
            ErrorKind::Cursor => "the cursor could not be loaded or saved",
            ErrorKind::Connect => "the service could not be reached",
            ErrorKind::Timeout => "the service did not answer in time",
            ErrorKind::Transport => "the exchange with the service broke off",
            ErrorKind::Api => "the service refused",
            ErrorKind::UnexpectedAnswer => "the answer is not one of the service",
            ErrorKind::UnreadableSuccess => "the success could not be read",
            ErrorKind::AnswerTooLarge => "the success is longer than accepted",
        })?;
        if let Some(status) = self.status() {
            write!(f, " (status {status})")?;
        }
        for (index, problem) in self.problems().take(MAX_PROBLEMS).enumerate() {
            f.write_str(if index == 0 { ": " } else { "; " })?;
            // These texts are untrusted: a line break in one must not start a new line in a log.
            write!(f, "{}", escaped(beginning(problem.code.as_str())))?;
            if let Some(field) = problem.field {
                write!(f, " {}", escaped(beginning(field)))?;
            }
            write!(f, " \"{}\"", escaped(beginning(problem.message)))?;
        }
        let more = self.problems().count().saturating_sub(MAX_PROBLEMS);
        if more > 0 {
            write!(f, "; and {more} more")?;
        }
        self.write_call(f)?;
        if let Some(existing) = self.existing_operation_id() {
            write!(f, " [existing operation {existing}]")?;
        }
        if let Some(wait) = self.retry_after() {
            write!(f, " [retry after {} s]", wait.as_secs())?;
        }
        if let Some(request_id) = self.request_id() {
            write!(f, " [request id {}]", escaped(beginning(request_id)))?;
        }
        if self.inner.attempts > 1 {
            write!(f, " [{} attempts]", self.inner.attempts)?;
        }
        Ok(())
    }
}

impl Error {
    /// Writes the call, its operation and its key: without an answer nothing else identifies the request.
    fn write_call(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(call) = self.inner.call else {
            return Ok(());
        };
        write!(f, " [{call}")?;
        if let Some(operation) = self.inner.operation {
            write!(f, " {operation}")?;
        }
        if let Some(key) = &self.inner.idempotency_key {
            write!(f, ", idempotency key {}", key.as_str())?;
        }
        f.write_str("]")
    }
}
