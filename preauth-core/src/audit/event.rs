//! The checks that apply to every event.

use crate::port::{DecodedEvent, StoredEvent};
use crate::value::Version;

use super::Rule;
use super::checker::{Checker, Findings};

impl Checker<'_> {
    /// Decodes the body, and checks that it is the body of this event; `None` if it cannot be decoded.
    pub(super) fn decoded(
        &self,
        event: &StoredEvent,
        found: &mut Findings,
    ) -> Option<DecodedEvent> {
        let decoded = self.decoder.event(&event.body);
        found.expect(decoded.is_some(), Rule::FrozenBody, || {
            format!("the body of event {} is no webhook body", event.id)
        });
        let decoded = decoded?;
        let is_its_own = decoded.id == event.id
            && decoded.event_type == event.event_type
            && decoded.at == event.at;
        found.expect(is_its_own, Rule::FrozenBody, || {
            format!(
                "the body of event {} ({} at {}) reports event {} ({} at {})",
                event.id, event.event_type, event.at, decoded.id, decoded.event_type, decoded.at
            )
        });
        Some(decoded)
    }
}

/// Checks that every version up to the stored one has exactly one event; returns whether it holds.
pub(super) fn numbering(events: &[StoredEvent], last: Version, found: &mut Findings) -> bool {
    let numbers = || events.iter().map(|event| event.version.map(Version::get));
    let is_right = (1..=last.get()).map(Some).eq(numbers());
    found.expect(is_right, Rule::OneEventPerVersion, || {
        let numbers: Vec<_> = numbers().flatten().collect();
        format!("version {last} is stored, and there are events for {numbers:?}")
    });
    is_right
}
