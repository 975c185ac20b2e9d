//! The output: for people, or one JSON object per line.

use std::io::{self, IsTerminal, Write};

use preauth_core::value::Timestamp;
use preauth_core::wire::RawEventEnvelope;
use serde_json::{Value, json};
use webhook_verify::VerifyError;

use crate::http::Answer;
use crate::log::chain;
use crate::printable::printable;

use super::failure_mode::FailureMode;
use super::pretty::pretty;
use super::secrets::{NoSecret, Secrets};

const GREEN: &str = "32";
const RED: &str = "31";

/// Prints deliveries to standard output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    json: bool,
    has_colours: bool,
}

/// A delivery to print.
#[derive(Debug)]
pub(super) struct Heard<'h> {
    pub(super) at: Timestamp,
    pub(super) verdict: &'h Verdict,
    /// The event in its body, also when the signature is invalid.
    pub(super) event: Option<&'h RawEventEnvelope>,
    /// The number of this event's arrivals so far, if the signature is valid.
    pub(super) arrival: Option<u64>,
    pub(super) answer: Answer,
    pub(super) body: &'h [u8],
}

/// The result of verifying a delivery.
#[derive(Debug)]
pub(super) enum Verdict {
    Verified { age_seconds: i64 },
    Refused(VerifyError),
    NoSecret(NoSecret),
}

impl Report {
    pub(super) fn new(json: bool) -> Self {
        let has_colours = !json && io::stdout().is_terminal();
        Self { json, has_colours }
    }

    /// Prints the address for deliveries and how they are answered.
    pub(super) fn begin(self, url: &str, secrets: &Secrets, failure_mode: FailureMode) {
        if self.json {
            return print(&json!({ "url": url }).to_string());
        }
        let mut text = format!(
            "listening for deliveries to {url} ({failure_mode}); ctrl-c ends it\n\
             a sandbox sends here with --webhook-url {url}"
        );
        if let Err(error) = secrets.verifier() {
            text.push_str("\nnothing can be verified yet: ");
            text.push_str(&chain(&error));
        }
        print(&text);
    }

    /// Prints a delivery.
    pub(super) fn print_delivery(self, heard: &Heard<'_>) {
        if self.json {
            print(&object(heard).to_string());
        } else {
            print(&self.text(heard));
        }
    }

    fn text(self, heard: &Heard<'_>) -> String {
        let title = match heard.event {
            Some(event) => {
                let event_type = printable(event.event_type.as_str());
                format!("{event_type}  event {}", event.id)
            }
            None => "no event".to_owned(),
        };
        let colour = match heard.verdict {
            Verdict::Verified { .. } => GREEN,
            Verdict::Refused(_) | Verdict::NoSecret(_) => RED,
        };
        let verdict = self.paint(colour, &heard.verdict.in_words());
        let arrival = match heard.arrival {
            None => String::new(),
            Some(1) => "; first arrival".to_owned(),
            Some(nth) => format!("; seen before, arrival {nth}"),
        };
        let (at, answer) = (heard.at, in_words(heard.answer));
        let body = pretty(heard.body).replace('\n', "\n  ");
        format!("\n{at}  {title}\n  {verdict}{arrival}\n  -> {answer}\n  {body}")
    }

    fn paint(self, colour: &str, text: &str) -> String {
        if self.has_colours {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

impl Verdict {
    fn in_words(&self) -> String {
        match self {
            Self::Verified { age_seconds } => {
                format!("signature verified, signed {age_seconds} s ago")
            }
            Self::Refused(error) => format!("signature refused: {error}"),
            Self::NoSecret(error) => format!("not verified: {}", printable(&chain(error))),
        }
    }
}

fn in_words(Answer { after, status }: Answer) -> String {
    let what = match status {
        Some(status) => format!("answered {status}"),
        None => "connection closed without an answer".to_owned(),
    };
    if after.is_zero() {
        what
    } else {
        format!("{what} after {} s", after.as_secs())
    }
}

fn object(heard: &Heard<'_>) -> Value {
    let (is_verified, reason) = match heard.verdict {
        Verdict::Verified { .. } => (true, None),
        refused @ (Verdict::Refused(_) | Verdict::NoSecret(_)) => (false, Some(refused.in_words())),
    };
    let body: Option<Value> = serde_json::from_slice(heard.body).ok();
    json!({
        "at": heard.at.to_string(),
        "verified": is_verified,
        "reason": reason,
        "eventId": heard.event.map(|event| event.id.to_string()),
        "type": heard.event.map(|event| event.event_type.as_str()),
        "arrival": heard.arrival,
        "status": heard.answer.status,
        "delaySeconds": heard.answer.after.as_secs(),
        "body": body.unwrap_or_else(|| String::from_utf8_lossy(heard.body).into()),
    })
}

/// A closed output is ignored.
fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}
