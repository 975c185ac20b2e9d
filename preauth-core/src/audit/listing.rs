//! Checks the lists of events that head offices read on request.
//!
//! A list begins with the oldest event that its host kept, in the middle of a record's history. From the
//! first version of a record in a list on, every later one must follow, in order, each once.

use std::collections::HashMap;

use crate::port::{ListEnd, ListedEvent, MissingNumbers, Subject, UnlistedEvent, VersionedRecord};
use crate::value::{CompanyId, EventId, Version};

use super::checker::Findings;
use super::{Rule, Violation};

/// Records of one list that are known at the same time: half of them at least. Those seen longest ago are
/// forgotten, so that memory does not grow with a list.
const MAX_KNOWN: usize = 1_000_000;

/// What was read of one list so far.
#[derive(Debug, Default)]
pub(super) struct Lists {
    head_office: Option<CompanyId>,
    recent: HashMap<Key, Place>,
    earlier: HashMap<Key, Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Record(VersionedRecord),
    Event(EventId),
}

/// The latest version of a record in the list.
#[derive(Clone, Copy, Debug)]
struct Place {
    version: Option<Version>,
    number: i64,
    has_next: bool,
}

impl Lists {
    /// Checks the next event of a list.
    pub(super) fn listed(&mut self, listed: &ListedEvent) -> Vec<Violation> {
        if self.head_office != Some(listed.head_office) {
            self.begin(Some(listed.head_office));
        }
        let (reader, number) = (listed.head_office, listed.number);
        let mut found = Findings::of(Subject::Event(listed.event));
        found.expect(listed.is_for_reader, Rule::EventLists, || {
            format!("it is number {number} in the list of company {reader}, which may not read it")
        });
        if !listed.is_for_reader {
            return found.violations;
        }
        let (key, version) = match listed.record {
            Some((record, version)) => (Key::Record(record), Some(version)),
            None => (Key::Event(listed.event), None),
        };
        // What was removed after its retention proves nothing about what follows.
        let before = self.place(key);
        let before = before.filter(|place| place.number > listed.removed_upto);
        if let Some(before) = before {
            follows(before, listed, version, &mut found);
        }
        if before.is_none_or(|before| before.version < version) {
            let place = Place {
                version,
                number,
                has_next: listed.has_next,
            };
            self.keep(key, place);
        }
        found.violations
    }

    /// Checks at the end of a list that it has what must follow.
    pub(super) fn ended(&mut self, end: &ListEnd) -> Vec<Violation> {
        if self.head_office != Some(end.head_office) {
            self.begin(None);
        }
        let mut open: Vec<_> = self
            .recent
            .iter()
            .chain(&self.earlier)
            .filter(|(_, place)| place.has_next && place.number > end.removed_upto)
            .filter_map(|(key, place)| match key {
                Key::Record(record) => Some((*record, *place)),
                Key::Event(_) => None,
            })
            .collect();
        open.sort_by_key(|(record, _)| *record);
        let missing = open.into_iter().map(|(record, place)| Violation {
            rule: Rule::EventLists,
            subject: record.into(),
            what: format!(
                "version {} is number {} in the list of company {}, and the next one is missing",
                place.version.map_or(0, Version::get),
                place.number,
                end.head_office
            ),
        });
        let missing = missing.collect();
        self.begin(None);
        missing
    }

    fn begin(&mut self, head_office: Option<CompanyId>) {
        *self = Self {
            head_office,
            ..Self::default()
        };
    }

    fn place(&self, key: Key) -> Option<Place> {
        self.recent.get(&key).or(self.earlier.get(&key)).copied()
    }

    fn keep(&mut self, key: Key, place: Place) {
        self.earlier.remove(&key);
        self.recent.insert(key, place);
        if self.recent.len() >= MAX_KNOWN / 2 {
            self.earlier = std::mem::take(&mut self.recent);
        }
    }
}

/// The next event of a record comes right after the one before.
fn follows(before: Place, listed: &ListedEvent, version: Option<Version>, found: &mut Findings) {
    let (reader, number, earlier) = (listed.head_office, listed.number, before.number);
    found.expect(before.version != version, Rule::EventLists, || {
        format!("it is twice in the list of company {reader}, as numbers {earlier} and {number}")
    });
    let (Some(before), Some((record, version))) = (before.version, listed.record) else {
        return;
    };
    found.expect(version >= before, Rule::EventLists, || {
        format!(
            "it is version {version} of {record}, and comes as number {number} after version \
             {before}, number {earlier}, in the list of company {reader}"
        )
    });
    let is_next = version.get() <= before.get().saturating_add(1);
    found.expect(is_next, Rule::EventLists, || {
        format!(
            "it is version {version} of {record}, and comes as number {number} right after version \
             {before}, number {earlier}, in the list of company {reader}"
        )
    });
}

impl From<VersionedRecord> for Subject {
    fn from(record: VersionedRecord) -> Self {
        match record {
            VersionedRecord::Operation(id) => Self::Operation(id),
            VersionedRecord::Order(id) => Self::Order(id),
        }
    }
}

impl From<UnlistedEvent> for Violation {
    fn from(unlisted: UnlistedEvent) -> Self {
        Self {
            rule: Rule::EventLists,
            subject: Subject::Event(unlisted.event),
            what: format!(
                "it is missing in the list of company {}",
                unlisted.head_office
            ),
        }
    }
}

impl From<MissingNumbers> for Violation {
    fn from(missing: MissingNumbers) -> Self {
        Self {
            rule: Rule::EventLists,
            subject: Subject::EventNumbers(missing.first, missing.last),
            what: "they were assigned, and are in no list".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::value::OperationId;

    fn reader(n: u128) -> CompanyId {
        CompanyId::new(Uuid::from_u128(n))
    }

    /// Version `version` of an operation, as the number of that name.
    fn listed(number: i64, operation: i64, version: i64) -> ListedEvent {
        let event = Uuid::from_u64_pair(operation.unsigned_abs(), version.unsigned_abs());
        ListedEvent {
            head_office: reader(1),
            number,
            event: EventId::new(event),
            record: Some((
                VersionedRecord::Operation(OperationId::new(operation).unwrap()),
                Version::new(version).unwrap(),
            )),
            is_for_reader: true,
            has_next: false,
            removed_upto: 0,
        }
    }

    fn open(listed: ListedEvent) -> ListedEvent {
        ListedEvent {
            has_next: true,
            ..listed
        }
    }

    fn end(removed_upto: i64) -> ListEnd {
        ListEnd {
            head_office: reader(1),
            removed_upto,
        }
    }

    /// The findings of a list that ends now.
    fn found(list: &[ListedEvent]) -> Vec<String> {
        let mut lists = Lists::default();
        let mut found: Vec<_> = list.iter().flat_map(|it| lists.listed(it)).collect();
        let removed_upto = list.last().map_or(0, |last| last.removed_upto);
        found.extend(lists.ended(&end(removed_upto)));
        found.into_iter().map(|it| it.what).collect()
    }

    #[test]
    fn a_list_may_begin_in_the_middle_of_a_history() {
        let list = [
            open(listed(7, 1, 3)),
            listed(8, 2, 1),
            listed(9, 1, 4),
            listed(12, 3, 2),
        ];
        assert_eq!(found(&list), Vec::<String>::new());
    }

    #[test]
    fn a_missing_version_is_found_in_the_middle_and_at_the_end() {
        let middle = found(&[open(listed(1, 1, 1)), listed(5, 1, 3)]);
        assert!(
            matches!(&*middle, [it] if it.contains("right after version 1, number 1")),
            "{middle:?}"
        );
        let at_the_end = found(&[open(listed(1, 1, 1)), listed(2, 2, 1)]);
        assert!(
            matches!(&*at_the_end, [it] if it.ends_with("the next one is missing")),
            "{at_the_end:?}"
        );
    }

    #[test]
    fn what_retention_removed_meanwhile_is_not_missed() {
        let later = ListedEvent {
            removed_upto: 4,
            ..listed(5, 1, 3)
        };
        assert_eq!(found(&[open(listed(1, 1, 1)), later]), Vec::<String>::new());
        let mut lists = Lists::default();
        assert_eq!(lists.listed(&open(listed(4, 1, 1))), []);
        assert_eq!(lists.ended(&end(4)), []);
    }

    #[test]
    fn an_event_that_is_twice_in_a_list_is_found() {
        let versioned = found(&[listed(1, 1, 2), listed(2, 2, 1), listed(3, 1, 2)]);
        assert!(
            matches!(&*versioned, [it] if it.contains("as numbers 1 and 3")),
            "{versioned:?}"
        );
        let alone = |number| ListedEvent {
            record: None,
            ..listed(number, 1, 1)
        };
        let unversioned = found(&[alone(1), alone(2)]);
        assert!(
            matches!(&*unversioned, [it] if it.contains("as numbers 1 and 2")),
            "{unversioned:?}"
        );
    }

    #[test]
    fn an_event_before_an_earlier_one_is_found() {
        let found = found(&[listed(1, 1, 2), open(listed(2, 1, 1))]);
        assert!(
            matches!(&*found, [it] if it.contains("after version 2, number 1")),
            "{found:?}"
        );
    }

    #[test]
    fn the_event_of_others_is_found_and_lists_are_apart() {
        let foreign = ListedEvent {
            is_for_reader: false,
            ..open(listed(1, 1, 1))
        };
        let unread = found(&[foreign]);
        assert!(
            matches!(&*unread, [it] if it.contains("may not read it")),
            "{unread:?}"
        );
        let of_another = ListedEvent {
            head_office: reader(2),
            ..listed(1, 1, 1)
        };
        let mut lists = Lists::default();
        assert_eq!(lists.listed(&listed(1, 1, 1)), []);
        assert_eq!(lists.ended(&end(0)), []);
        assert_eq!(lists.listed(&of_another), []);
    }
}
