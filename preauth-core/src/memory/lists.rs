//! The lists of events that head offices read, for audits. Nothing is removed from them here.

use std::collections::{BTreeMap, BTreeSet};

use crate::port::{ListEnd, ListedEvent, Record, VersionedRecord};
use crate::value::{CompanyId, EventId, Version};

use super::tables::Tables;

/// A version of a record.
type AtVersion = (VersionedRecord, Version);

impl Tables {
    /// The list of each head office, with its end.
    pub(super) fn lists(&self) -> Vec<Record> {
        let records = self.records_of_events();
        let versions: BTreeSet<_> = records.values().copied().collect();
        let mut lists: BTreeMap<CompanyId, Vec<ListedEvent>> = BTreeMap::new();
        for (number, (entry, event)) in (1_i64..).zip(&self.feed) {
            let reader = entry.head_office;
            let record = records.get(&event.id).copied();
            let next = record.map(|(record, version)| (record, version.next()));
            lists.entry(reader).or_default().push(ListedEvent {
                head_office: reader,
                number,
                event: event.id,
                record,
                is_for_reader: self.may_read(reader, event.id, record),
                has_next: next.is_some_and(|it| versions.contains(&it) && self.reads(reader, it.0)),
                removed_upto: 0,
            });
        }
        let whole = lists.into_iter().flat_map(|(head_office, list)| {
            let end = Record::ListEnd(ListEnd {
                head_office,
                removed_upto: 0,
            });
            list.into_iter().map(Record::Listed).chain([end])
        });
        whole.collect()
    }

    fn records_of_events(&self) -> BTreeMap<EventId, AtVersion> {
        let of_operations = self.histories.iter().flat_map(|(id, history)| {
            let record = VersionedRecord::Operation(*id);
            history.iter().map(move |it| (it.id, (record, it.version)))
        });
        let of_orders = self.order_histories.iter().flat_map(|(id, history)| {
            let record = VersionedRecord::Order(*id);
            history.iter().map(move |it| (it.id, (record, it.version)))
        });
        of_operations.chain(of_orders).collect()
    }

    /// Whether a head office reads what happens to a record now.
    fn reads(&self, head_office: CompanyId, record: VersionedRecord) -> bool {
        match record {
            VersionedRecord::Operation(id) => self.operations.get(&id).is_some_and(|operation| {
                let operation = self.present(operation);
                [operation.payer, operation.supplier]
                    .iter()
                    .any(|party| party.head_office == head_office)
            }),
            VersionedRecord::Order(id) => self
                .orders
                .get(&id)
                .is_some_and(|order| order.payer.head_office == head_office),
        }
    }

    /// Whether a head office may read an event, or might when it was listed.
    fn may_read(&self, head_office: CompanyId, event: EventId, record: Option<AtVersion>) -> bool {
        let Some((record, _)) = record else {
            let mut announced = self.announcements.iter();
            return announced.any(|(of, it)| *of == head_office && it.id == event);
        };
        let was_alone = match record {
            VersionedRecord::Operation(id) => self
                .operations
                .get(&id)
                .is_some_and(|operation| operation.supplier.company == head_office),
            VersionedRecord::Order(_) => false,
        };
        was_alone || self.reads(head_office, record)
    }
}
