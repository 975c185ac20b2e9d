//! What the readers of events on request got: I17.
//!
//! The audit at the end of each run rebuilds every operation from the bodies of its events alone. A reader got exactly these
//! bodies, in the order of versions (I17), and a receiver of webhooks the same ones, unless a delivery ended visibly failed (I4, I9):
//! so each way alone rebuilds every operation, and both together do.

use std::collections::{BTreeMap, BTreeSet};

use preauth_core::port::EventRecord;
use preauth_core::value::{CompanyId, EventId, Family};

use crate::history::Fact;

use super::Case;

/// An event that a head office is to read.
struct Due<'a> {
    event: &'a EventRecord,
    /// Its record, and the record's version after it; an event without one has none.
    version: Option<(String, i64)>,
}

impl Case<'_> {
    /// By their cursors alone, payer and supplier got every event that concerns them, as it was committed, and of each
    /// record in the order of its versions.
    pub(super) fn readers(&mut self) {
        for subscriber in &self.scene.subscribers {
            self.reader(subscriber.company);
        }
    }

    fn reader(&mut self, company: CompanyId) {
        let history = self.history;
        let due: BTreeMap<EventId, Due<'_>> = history
            .iter()
            .filter_map(|entry| due(company, &entry.fact))
            .map(|due| (due.event.id, due))
            .collect();
        let mut read = BTreeSet::new();
        let mut versions: BTreeMap<&str, i64> = BTreeMap::new();
        for entry in history {
            let Fact::Read {
                company: reader,
                event,
                body,
            } = &entry.fact
            else {
                continue;
            };
            if *reader != company {
                continue;
            }
            let Some(due) = due.get(event) else {
                self.expect(false, "I17", || {
                    format!("{company} read event {event}, which is none of its own")
                });
                continue;
            };
            self.expect(due.event.body == *body, "I17", || {
                format!("event {event} was read changed")
            });
            if !read.insert(*event) {
                continue;
            }
            if let Some((record, version)) = &due.version {
                let before = versions.insert(record, *version).unwrap_or_default();
                self.expect(before == version - 1, "I17", || {
                    format!("{company} read version {version} of {record} after {before}")
                });
            }
        }
        for (event, due) in &due {
            self.expect(read.contains(event), "I17", || {
                let event_type = due.event.event_type;
                format!("{company} never read event {event}, a {event_type}")
            });
        }
    }
}

fn due(company: CompanyId, fact: &Fact) -> Option<Due<'_>> {
    let (event, readers, version) = match fact {
        Fact::Committed(recorded) => {
            let operation = &recorded.operation;
            (
                &recorded.event,
                vec![operation.payer.head_office, operation.supplier.head_office],
                Some((
                    format!("operation {}", operation.id),
                    operation.version.get(),
                )),
            )
        }
        Fact::CommittedOrder(recorded) => {
            let order = &recorded.order;
            (
                &recorded.event,
                vec![order.payer.head_office],
                Some((format!("order {}", order.id), order.version.get())),
            )
        }
        Fact::Announced(recorded) => (&recorded.event, vec![recorded.head_office], None),
        _ => return None,
    };
    let is_due = event.event_type.family() != Family::Webhook && readers.contains(&company);
    is_due.then_some(Due { event, version })
}
