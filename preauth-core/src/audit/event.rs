//! What every event is held to, whatever it tells of.

use crate::port::{DecodedEvent, StoredEvent};
use crate::value::Version;

use super::Rule;
use super::checker::{Checker, Findings};

impl Checker<'_> {
    /// What the body tells, if it tells of this very event.
    pub(super) fn told(&self, event: &StoredEvent, found: &mut Findings) -> Option<DecodedEvent> {
        let told = self.decoder.event(&event.body);
        found.expect(told.is_some(), Rule::FrozenBody, || {
            format!("the body of event {} is no webhook body", event.id)
        });
        let told = told?;
        let is_its_own =
            told.id == event.id && told.event_type == event.event_type && told.at == event.at;
        found.expect(is_its_own, Rule::FrozenBody, || {
            format!(
                "the body of event {} ({} at {}) tells of event {} ({} at {})",
                event.id, event.event_type, event.at, told.id, told.event_type, told.at
            )
        });
        Some(told)
    }
}

/// Every version up to the stored one has exactly one event; gives whether that is so.
pub(super) fn numbering(events: &[StoredEvent], last: Version, found: &mut Findings) -> bool {
    let numbers = || events.iter().map(|event| event.version.map(Version::get));
    let is_right = (1..=last.get()).map(Some).eq(numbers());
    found.expect(is_right, Rule::OneEventPerVersion, || {
        let numbers: Vec<_> = numbers().flatten().collect();
        format!("version {last} is stored, and there are events for {numbers:?}")
    });
    is_right
}
