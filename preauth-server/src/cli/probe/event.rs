//! The events that a probe sends.

use std::path::Path;

use preauth_core::port::IdSource;
use preauth_core::value::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::admin::caused;
use crate::clock::{Clock, SystemClock};
use crate::ids::RandomIds;
use crate::language::Language;

use super::words;

/// The body of the large event, which receivers must take.
const LARGE_BODY_BYTES: usize = 100 * 1024;
/// A type that the service will never have.
const UNKNOWN_TYPE: &str = "probe.type_of_tomorrow";

/// An event as sent.
#[derive(Clone, Debug)]
pub(super) struct ProbeEvent {
    pub(super) id: Uuid,
    pub(super) event_type: String,
    pub(super) body: String,
}

/// What all events of a probe are made from.
#[derive(Clone, Debug)]
pub(super) struct Template {
    event_type: String,
    data: Value,
}

/// Why a file is no template.
#[derive(Debug)]
pub(super) enum NoTemplate {
    Unreadable(std::io::Error),
    NoEvent,
}

impl NoTemplate {
    pub(super) fn text(&self, path: &Path, language: Language) -> String {
        let path = path.display().to_string();
        match self {
            Self::Unreadable(cause) => caused(&words::event_unread(language, &path), cause),
            Self::NoEvent => words::no_event(language, &path),
        }
    }
}

impl Default for Template {
    fn default() -> Self {
        Self {
            event_type: "webhook.test".to_owned(),
            data: json!({"message": "Evento de teste."}),
        }
    }
}

impl Template {
    pub(super) fn open(path: &Path) -> Result<Self, NoTemplate> {
        let text = std::fs::read_to_string(path).map_err(NoTemplate::Unreadable)?;
        Self::parse(&text).ok_or(NoTemplate::NoEvent)
    }

    /// An event, or what `listen --json` prints of one.
    fn parse(text: &str) -> Option<Self> {
        let mut event: Map<String, Value> = serde_json::from_str(text).ok()?;
        if let Some(Value::Object(body)) = event.remove("body") {
            event = body;
        }
        let event_type = event.get("type")?.as_str()?.to_owned();
        let data = event.remove("data").filter(Value::is_object)?;
        Some(Self { event_type, data })
    }

    pub(super) fn event(&self) -> ProbeEvent {
        self.event_at(SystemClock.now())
    }

    /// An event that happened at `at`.
    pub(super) fn event_at(&self, at: Timestamp) -> ProbeEvent {
        envelope(&self.event_type, at, &self.data, None)
    }

    /// The same values as another encoder prints them: spaces, escapes, zeros at the end.
    pub(super) fn printed_otherwise(&self) -> ProbeEvent {
        let mut event = self.event();
        let inner = event.body.strip_prefix('{').unwrap_or_default();
        let probe = r#""probe": {"text": "N\u00e3o \/ sim — preço", "number": 1.50}"#;
        event.body = format!("{{ {probe} ,\r\n {inner}\n");
        event
    }

    pub(super) fn of_unknown_type() -> ProbeEvent {
        envelope(UNKNOWN_TYPE, SystemClock.now(), &json!({"x": 1}), None)
    }

    pub(super) fn with_unknown_fields(&self) -> ProbeEvent {
        let mut data = self.data.clone();
        if let Some(data) = data.as_object_mut() {
            data.insert("fieldOfTomorrow".to_owned(), json!({"list": [1, null]}));
        }
        let extra = Some(("fieldOfTomorrow", json!("x")));
        envelope(&self.event_type, SystemClock.now(), &data, extra)
    }

    pub(super) fn large(&self) -> ProbeEvent {
        let filler = "x".repeat(LARGE_BODY_BYTES);
        let extra = Some(("filler", json!(filler)));
        envelope(&self.event_type, SystemClock.now(), &self.data, extra)
    }
}

fn envelope(
    event_type: &str,
    at: Timestamp,
    data: &Value,
    extra: Option<(&str, Value)>,
) -> ProbeEvent {
    let id = RandomIds.uuid(at);
    let mut body = json!({
        "id": id.to_string(),
        "type": event_type,
        "createdAt": at.to_string(),
        "data": data,
    });
    if let (Some(body), Some((name, value))) = (body.as_object_mut(), extra) {
        body.insert(name.to_owned(), value);
    }
    ProbeEvent {
        id,
        event_type: event_type.to_owned(),
        body: body.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use preauth_core::wire::RawEventEnvelope;

    use super::*;

    #[test]
    fn everything_sent_is_an_event_of_its_own_id() {
        let template = Template::default();
        for event in [
            template.event(),
            template.printed_otherwise(),
            Template::of_unknown_type(),
            template.with_unknown_fields(),
            template.large(),
        ] {
            let read = RawEventEnvelope::from_json(event.body.as_bytes()).unwrap();
            assert_eq!(read.id, preauth_core::value::EventId::new(event.id));
            assert_eq!(read.event_type.as_str(), event.event_type);
        }
        assert!(template.large().body.len() > LARGE_BODY_BYTES);
    }

    #[test]
    fn a_template_is_an_event_or_a_line_of_listen() {
        let event = r#"{"id":"x","type":"anticipation.paid","data":{"anticipationId":7}}"#;
        for text in [
            event.to_owned(),
            format!(r#"{{"verified":true,"body":{event}}}"#),
        ] {
            let made = Template::parse(&text).unwrap().event();
            assert_eq!(made.event_type, "anticipation.paid");
            assert!(made.body.contains(r#""data":{"anticipationId":7}"#));
        }
        for text in [
            "",
            "[]",
            "{}",
            r#"{"type":"x"}"#,
            r#"{"type":"x","data":1}"#,
        ] {
            assert!(Template::parse(text).is_none(), "{text}");
        }
    }
}
