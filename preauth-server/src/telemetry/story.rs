//! The sandbox's log format: a readable line per request, status change and delivery.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Write};
use std::sync::{Arc, OnceLock};

use preauth_core::value::EventType;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;
use url::Url;

use super::words;
use crate::language::Language;
use crate::secret::{SupplierLinks, SupplierPage};

/// The links of the supplier's pages, known once the sandbox has started. The story alone adds them, so
/// that no log ever has one.
#[derive(Clone, Debug, Default)]
pub struct StoryPages(Arc<OnceLock<SupplierLinks>>);

/// Formats events as sentences. Warnings keep the text of the log.
#[derive(Clone, Debug)]
pub struct Story {
    /// Whether the output is a terminal with colours.
    pub ansi: bool,
    /// The language of the sentences.
    pub language: Language,
    /// The links to show below each new offer.
    pub pages: StoryPages,
}

impl StoryPages {
    /// Shows these links from now on.
    pub fn show(&self, links: SupplierLinks) {
        let _ = self.0.set(links);
    }

    /// The link of an operation that is an open offer.
    fn link(&self, facts: &Facts) -> Option<Url> {
        let is_new = facts.get("event") == EventType::PreAuthorizationCreated.as_str();
        let id = facts.find("operation").filter(|_| is_new)?;
        Some(self.0.get()?.url(id.parse().ok()?, SupplierPage::Offer))
    }
}

impl<S, N> FormatEvent<S, N> for Story
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut facts = Facts::default();
        event.record(&mut facts);
        let metadata = event.metadata();
        let language = self.language;
        let (label, colour, line) = match metadata.target() {
            "request" => (words::REQUEST.of(language), "36", request(&facts)),
            "operation" => (
                words::STATUS.of(language),
                "33",
                operation(&facts, language),
            ),
            "payment_order" => {
                let line = payment_order(&facts, language);
                (words::STATUS.of(language), "33", line)
            }
            "delivery" => (
                words::DELIVERY.of(language),
                "35",
                delivery(&facts, language),
            ),
            "mail" => (words::MAIL.of(language), "32", mail(&facts, language)),
            "clock" => (words::CLOCK.of(language), "34", clock(&facts, language)),
            "receiver" => {
                let line = facts.get("message").to_owned();
                (words::RECEIVER.of(language), "32", line)
            }
            _ if *metadata.level() > Level::WARN => return Ok(()),
            target => (target, "31", facts.all()),
        };
        self.write_line(&mut writer, colour, label, &line)?;
        match self.pages.link(&facts) {
            Some(url) => self.write_line(&mut writer, "36", words::PAGE.of(language), url.as_str()),
            None => Ok(()),
        }
    }
}

impl Story {
    fn write_line(
        &self,
        writer: &mut Writer<'_>,
        colour: &str,
        label: &str,
        line: &str,
    ) -> fmt::Result {
        if self.ansi {
            writeln!(writer, "\u{1b}[{colour}m{label:<9}\u{1b}[0m {line}")
        } else {
            writeln!(writer, "{label:<9} {line}")
        }
    }
}

fn request(facts: &Facts) -> String {
    let mut line = format!(
        "{} {} -> {}",
        facts.get("method"),
        facts.get("path"),
        facts.get("status"),
    );
    if let Some(code) = facts.find("code") {
        let _ = write!(line, " {code}");
    }
    let _ = write!(line, " ({} ms)", facts.get("duration_ms"));
    if let Some(error) = facts.find("error") {
        let _ = write!(line, ": {error}");
    }
    line
}

fn operation(facts: &Facts, language: Language) -> String {
    let [operation, status, event] = ["operation", "status", "event"].map(|name| facts.get(name));
    words::operation(language, operation, status, event)
}

fn payment_order(facts: &Facts, language: Language) -> String {
    let [order, status] = ["payment_order", "status"].map(|name| facts.get(name));
    words::payment_order(language, order, status)
}

fn delivery(facts: &Facts, language: Language) -> String {
    let outcome = facts.find("error").or(facts.find("status")).unwrap_or("?");
    words::delivery(
        language,
        facts.get("event_type"),
        facts.get("attempt"),
        &words::logged(language, outcome),
        &words::logged(language, facts.get("verdict")),
        facts.get("duration_ms"),
    )
}

fn mail(facts: &Facts, language: Language) -> String {
    let [kind, what] = ["kind", "message"].map(|name| facts.get(name));
    let what = words::logged(language, what);
    let outcome = facts.find("place").or(facts.find("error"));
    let reason = facts
        .find("reason")
        .map(|reason| words::logged(language, reason));
    let outcome = outcome.map(str::to_owned).or(reason);
    format!("{kind} {what}: {}", outcome.as_deref().unwrap_or("?"))
}

fn clock(facts: &Facts, language: Language) -> String {
    let seconds = facts.get("seconds").parse().unwrap_or_default();
    words::clock(language, facts.get("now"), &span(seconds))
}

/// A duration in its largest whole unit.
fn span(seconds: u64) -> String {
    for (unit_seconds, unit) in [(86_400, "d"), (3_600, "h"), (60, "m")] {
        if seconds > 0 && seconds.is_multiple_of(unit_seconds) {
            return format!(
                "{} {unit}",
                seconds.checked_div(unit_seconds).unwrap_or_default()
            );
        }
    }
    format!("{seconds} s")
}

/// The fields of one event, as texts.
#[derive(Default)]
struct Facts(BTreeMap<&'static str, String>);

impl Facts {
    fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn all(&self) -> String {
        let facts: Vec<_> = self
            .0
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        facts.join(" ")
    }
}

impl Visit for Facts {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn a_span_is_printed_in_its_largest_whole_unit() {
        for (seconds, expected) in [
            (0, "0 s"),
            (90, "90 s"),
            (120, "2 m"),
            (7_200, "2 h"),
            (86_401, "86401 s"),
            (2_678_400, "31 d"),
        ] {
            assert_eq!(span(seconds), expected);
        }
    }
}
