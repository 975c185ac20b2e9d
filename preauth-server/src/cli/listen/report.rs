//! The output: for people, or one JSON object per line.

use std::io::{self, IsTerminal, Write};

use preauth_core::value::Timestamp;
use preauth_core::wire::RawEventEnvelope;
use serde_json::{Value, json};
use webhook_verify::VerifyError;

use crate::http::Answer;
use crate::language::Language;
use crate::printable::printable;
use crate::sandbox::signature_refusal;

use super::failure_mode::FailureMode;
use super::pretty::pretty;
use super::secrets::{NoSecret, Secrets};
use super::words;

const GREEN: &str = "32";
const RED: &str = "31";

/// Prints deliveries to standard output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    json: bool,
    has_colours: bool,
    language: Language,
}

/// A delivery to print.
#[derive(Debug)]
pub(super) struct ReceivedDelivery<'h> {
    pub(super) at: Timestamp,
    pub(super) check: &'h SignatureCheck,
    /// The event in its body, also when the signature is invalid.
    pub(super) event: Option<&'h RawEventEnvelope>,
    /// The number of this event's arrivals so far, if the signature is valid.
    pub(super) arrival: Option<u64>,
    pub(super) answer: Answer,
    pub(super) body: &'h [u8],
}

/// The result of verifying a delivery.
#[derive(Debug)]
pub(super) enum SignatureCheck {
    Verified { age_seconds: i64 },
    Refused(VerifyError),
    NoSecret(NoSecret),
}

impl Report {
    pub(super) fn new(json: bool, language: Language) -> Self {
        let has_colours = !json && io::stdout().is_terminal();
        Self {
            json,
            has_colours,
            language,
        }
    }

    /// Prints the address for deliveries and how they are answered.
    pub(super) fn begin(self, url: &str, secrets: &Secrets, failure_mode: FailureMode) {
        if self.json {
            return print(&json!({ "url": url }).to_string());
        }
        let language = self.language;
        print(&words::listening(
            language,
            url,
            &failure_mode.text(language),
        ));
        print(&words::how_a_sandbox_sends(language, url));
        if let Err(error) = secrets.verifier() {
            print(&words::nothing_verified(language, &error.text(language)));
        }
    }

    /// Prints a delivery.
    pub(super) fn print_delivery(self, received: &ReceivedDelivery<'_>) {
        if self.json {
            print(&object(received).to_string());
        } else {
            print(&self.text(received));
        }
    }

    fn text(self, received: &ReceivedDelivery<'_>) -> String {
        let title = match received.event {
            Some(event) => {
                let event_type = printable(event.event_type.as_str());
                words::event(self.language, &event_type, event.id)
            }
            None => words::NO_EVENT.of(self.language).to_owned(),
        };
        let colour = match received.check {
            SignatureCheck::Verified { .. } => GREEN,
            SignatureCheck::Refused(_) | SignatureCheck::NoSecret(_) => RED,
        };
        let check = self.paint(colour, &received.check.text(self.language));
        let arrival = match received.arrival {
            None => String::new(),
            Some(1) => format!("; {}", words::FIRST_ARRIVAL.of(self.language)),
            Some(nth) => format!("; {}", words::seen_before(self.language, nth)),
        };
        let (at, answer) = (received.at, text_of(received.answer, self.language));
        let body = pretty(received.body).replace('\n', "\n  ");
        format!("\n{at}  {title}\n  {check}{arrival}\n  -> {answer}\n  {body}")
    }

    fn paint(self, colour: &str, text: &str) -> String {
        if self.has_colours {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

impl SignatureCheck {
    fn text(&self, language: Language) -> String {
        match self {
            Self::Verified { age_seconds } => words::verified(language, *age_seconds),
            Self::Refused(error) => words::refused(language, &signature_refusal(language, *error)),
            Self::NoSecret(error) => {
                words::not_verified(language, &printable(&error.text(language)))
            }
        }
    }
}

fn text_of(Answer { after, status }: Answer, language: Language) -> String {
    let what = match status {
        Some(status) => words::answered(language, status),
        None => words::CLOSED.of(language).to_owned(),
    };
    if after.is_zero() {
        what
    } else {
        words::after(language, &what, after.as_secs())
    }
}

fn object(received: &ReceivedDelivery<'_>) -> Value {
    let (is_verified, reason) = match received.check {
        SignatureCheck::Verified { .. } => (true, None),
        // For scripts, in one language.
        refused @ (SignatureCheck::Refused(_) | SignatureCheck::NoSecret(_)) => {
            (false, Some(refused.text(Language::English)))
        }
    };
    let body: Option<Value> = serde_json::from_slice(received.body).ok();
    json!({
        "at": received.at.to_string(),
        "verified": is_verified,
        "reason": reason,
        "eventId": received.event.map(|event| event.id.to_string()),
        "type": received.event.map(|event| event.event_type.as_str()),
        "arrival": received.arrival,
        "status": received.answer.status,
        "delaySeconds": received.answer.after.as_secs(),
        "body": body.unwrap_or_else(|| String::from_utf8_lossy(received.body).into()),
    })
}

/// A closed output is ignored.
fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}
