//! The findings: one line each, or one JSON object.

use std::process::ExitCode;

use serde::Serialize;

use crate::stdout::{self, OutputError};

use super::super::CliError;

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Failed,
}

#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    state: State,
    found: String,
    /// `None` when there is none, and when the text ends with it.
    next: Option<String>,
}

/// Prints findings as they come; with JSON, all of them at the end.
#[derive(Debug)]
pub(super) struct Report {
    is_json: bool,
    findings: Vec<Finding>,
    /// The first failure to write a line.
    broken: Option<OutputError>,
}

impl Report {
    pub(super) const fn new(is_json: bool) -> Self {
        Self {
            is_json,
            findings: Vec::new(),
            broken: None,
        }
    }

    pub(super) fn ok(&mut self, check: &'static str, found: &str) {
        self.add(check, State::Ok, found, None);
    }

    pub(super) fn warning(&mut self, check: &'static str, found: &str, next: &str) {
        self.add(check, State::Warning, found, Some(next));
    }

    pub(super) fn failed(&mut self, check: &'static str, found: &str, next: Option<&str>) {
        self.add(check, State::Failed, found, next);
    }

    fn add(&mut self, check: &'static str, state: State, found: &str, next: Option<&str>) {
        let finding = Finding {
            check,
            state,
            found: found.split_whitespace().collect::<Vec<_>>().join(" "),
            next: next.map(str::to_owned),
        };
        if !self.is_json {
            self.print(&finding.line());
        }
        self.findings.push(finding);
    }

    pub(super) fn end(mut self) -> Result<ExitCode, CliError> {
        let worst = self.findings.iter().map(|finding| finding.state).max();
        if self.is_json {
            let all = serde_json::json!({ "state": worst, "checks": self.findings });
            self.print(&all.to_string());
        }
        match self.broken {
            Some(error) => Err(error.into()),
            None if worst == Some(State::Failed) => Ok(ExitCode::FAILURE),
            None => Ok(ExitCode::SUCCESS),
        }
    }

    fn print(&mut self, line: &str) {
        let written = stdout::print(line);
        self.broken = self.broken.take().or_else(|| written.err());
    }
}

impl Finding {
    fn line(&self) -> String {
        let state = match self.state {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Failed => "failed",
        };
        let next = self.next.as_ref().map(|next| format!("; next: {next}"));
        let next = next.unwrap_or_default();
        format!("{state:<8} {:<14} {}{next}", self.check, self.found)
    }
}
