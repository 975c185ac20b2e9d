//! The output: for people, or one JSON object per line.

use std::io::{self, IsTerminal, Write};

use serde_json::{Value, json};

use crate::language::Language;

use super::check::Check;
use super::fault::Fault;
use super::finding::Finding;
use super::sender::Reply;
use super::words;

const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";

/// Prints each finding to standard output, and counts.
#[derive(Debug)]
pub(super) struct Report {
    json: bool,
    has_colours: bool,
    language: Language,
    checks: u32,
    faults: u32,
}

impl Report {
    pub(super) fn new(json: bool, language: Language) -> Self {
        Self {
            json,
            has_colours: !json && io::stdout().is_terminal(),
            language,
            checks: 0,
            faults: 0,
        }
    }

    pub(super) fn begin(&self, url: &str) {
        if !self.json {
            print(&words::probing(self.language, url));
        }
    }

    /// Prints what a check has found.
    pub(super) fn print(&mut self, check: &Check, finding: Finding, replies: &[Reply]) {
        if finding != Finding::Skipped {
            self.checks = self.checks.saturating_add(1);
        }
        if matches!(finding, Finding::Wrong(_)) {
            self.faults = self.faults.saturating_add(1);
        }
        if self.json {
            print(&object(check, finding, replies).to_string());
        } else {
            print(&self.text(check, finding, replies));
        }
    }

    /// Prints the totals and returns the number of faults.
    pub(super) fn end(self) -> u32 {
        let (checks, faults) = (self.checks, self.faults);
        if self.json {
            print(&json!({"totals": {"checks": checks, "faults": faults}}).to_string());
        } else {
            print(&words::totals(self.language, checks, faults));
        }
        faults
    }

    fn text(&self, check: &Check, finding: Finding, replies: &[Reply]) -> String {
        let language = self.language;
        let (colour, word, fault) = match finding {
            Finding::Right => (GREEN, words::RIGHT, None),
            Finding::Note(fault) => (YELLOW, words::NOTE, Some(fault)),
            Finding::Wrong(fault) => (RED, words::WRONG, Some(fault)),
            Finding::Skipped => (YELLOW, words::SKIPPED, None),
        };
        let word = self.paint(colour, &format!("{:<8}", word.of(language)));
        let mut text = format!("{word} {}", check.title.of(language));
        if !replies.is_empty() {
            let answers: Vec<_> = replies.iter().map(|it| answer(*it, language)).collect();
            text.push_str(": ");
            text.push_str(&answers.join(", "));
        }
        if let Some(fault) = fault {
            text.push_str(&explanation(fault, language));
        }
        text
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.has_colours {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

fn answer(reply: Reply, language: Language) -> String {
    match reply.status {
        Ok(status) => words::answered(language, status, reply.duration_ms),
        Err(error) => words::not_answered(language, error.code(), reply.duration_ms),
    }
}

fn explanation(fault: Fault, language: Language) -> String {
    let indent = "\n         ";
    format!(
        "{indent}{}{indent}{}{indent}{}",
        fault.meaning().of(language),
        words::next(language, fault.next().of(language)),
        fault.link(language),
    )
}

/// For scripts, in one language.
fn object(check: &Check, finding: Finding, replies: &[Reply]) -> Value {
    let (result, fault) = match finding {
        Finding::Right => ("ok", None),
        Finding::Note(fault) => ("note", Some(fault)),
        Finding::Wrong(fault) => ("fault", Some(fault)),
        Finding::Skipped => ("skipped", None),
    };
    let answers: Vec<Value> = replies
        .iter()
        .map(|reply| {
            json!({
                "status": reply.status.ok(),
                "error": reply.status.err().map(preauth_core::port::AttemptError::code),
                "durationMs": reply.duration_ms,
            })
        })
        .collect();
    json!({
        "check": check.id,
        "result": result,
        "code": fault.map(Fault::code),
        "meaning": fault.map(|it| it.meaning().of(Language::English)),
        "next": fault.map(|it| it.next().of(Language::English)),
        "see": fault.map(|it| it.link(Language::English)),
        "answers": answers,
    })
}

/// A closed output is ignored.
fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}
