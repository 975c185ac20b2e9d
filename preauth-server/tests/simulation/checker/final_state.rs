//! The state stored at the end of a run, and the audit's findings.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use async_trait::async_trait;
use preauth_core::audit::{self, Moment, Rule, Totals, Watch};
use preauth_core::operation::Operation;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Archive, Page, Pages, Read, Record, StoredDelivery, StoredEvent, StoredMail, StoredOperation,
    Unavailable,
};
use preauth_core::value::{EventId, MailId, OperationId, PaymentOrderId, Timestamp};
use preauth_server::http::WireDecoder;

use super::Violation;

/// Records per page.
const PAGE: u32 = 100;

/// The state stored at the end of a run.
#[derive(Debug, Default)]
pub(crate) struct FinalState {
    pub(crate) operations: BTreeMap<OperationId, StoredOperation>,
    pub(crate) orders: BTreeMap<PaymentOrderId, (PaymentOrder, Vec<StoredEvent>)>,
    pub(crate) mails: BTreeMap<MailId, StoredMail>,
    /// Events without an aggregate.
    pub(crate) others: Vec<StoredEvent>,
    /// The companies and keys that were registered during the run.
    pub(crate) registered: BTreeSet<String>,
    /// The findings of the audit.
    pub(crate) audited: Vec<audit::Violation>,
    /// Offers whose expiry is not recorded although it is due.
    pub(crate) overdue: Vec<OperationId>,
}

impl FinalState {
    /// Reads everything and audits it at `now`. Offers whose time was over before `expired_by` must have expired.
    pub(crate) async fn of(archive: &dyn Archive, now: Timestamp, expired_by: Timestamp) -> Self {
        let mut pages = archive.pages().await.unwrap();
        let mut records = Vec::new();
        let mut page = pages.next(PAGE).await.unwrap();
        let host_now = page.host_now;
        while !page.records.is_empty() {
            records.append(&mut page.records);
            page = pages.next(PAGE).await.unwrap();
        }
        // A holder listed on two pages is read twice.
        records.dedup();
        let moment = Moment {
            now,
            is_live: true,
            daily_share: NonZeroU32::MAX,
            mails_kept: None,
        };
        let mut end = Self::default();
        let copied = Copied { host_now, records };
        let checked = audit::audit(&copied, &WireDecoder, moment, &mut end).await;
        checked.unwrap();
        for record in copied.records {
            end.keep(record);
        }
        let operations = end.operations.values().map(|stored| &stored.operation);
        let overdue = operations.filter(|it| it.is_overdue(expired_by));
        end.overdue = overdue.map(|it| it.id).collect();
        end
    }

    pub(crate) fn operation(&self, id: OperationId) -> Option<&Operation> {
        self.operations.get(&id).map(|stored| &stored.operation)
    }

    /// The stored deliveries of an event.
    pub(crate) fn deliveries(&self) -> BTreeMap<EventId, &[StoredDelivery]> {
        let of_operations = self.operations.values().flat_map(|it| &it.events);
        let of_orders = self.orders.values().flat_map(|(_, events)| events);
        let events = of_operations.chain(of_orders).chain(&self.others);
        events
            .map(|event| (event.id, event.deliveries.as_slice()))
            .collect()
    }

    fn keep(&mut self, record: Read<Record>) {
        match record {
            Ok(Record::Operation(stored)) => {
                self.operations.insert(stored.operation.id, *stored);
            }
            Ok(Record::Order(stored)) => {
                let events = (stored.order.clone(), stored.events);
                self.orders.insert(stored.order.id, events);
            }
            Ok(Record::Mail(stored)) => {
                self.mails.insert(stored.id, *stored);
            }
            Ok(Record::Other(stored)) => self.others.push(stored.event),
            _ => {}
        }
    }
}

impl Watch for FinalState {
    fn found(&mut self, violation: audit::Violation) {
        self.audited.push(violation);
    }

    fn progressed(&mut self, _totals: &Totals) {}
}

/// Records that have been read.
struct Copied {
    host_now: Timestamp,
    records: Vec<Read<Record>>,
}

#[async_trait]
impl Archive for Copied {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        Ok(Box::new(OnePage(self.host_now, self.records.clone())))
    }
}

struct OnePage(Timestamp, Vec<Read<Record>>);

#[async_trait]
impl Pages for OnePage {
    async fn next(&mut self, _limit: u32) -> Result<Page, Unavailable> {
        Ok(Page {
            host_now: self.0,
            records: std::mem::take(&mut self.1),
        })
    }
}

impl From<&audit::Violation> for Violation {
    fn from(audited: &audit::Violation) -> Self {
        Self {
            invariant: match audited.rule {
                Rule::Readable
                | Rule::References
                | Rule::OneEventPerVersion
                | Rule::StateOfItsEvents
                | Rule::OwnParties
                | Rule::KnownSupplier
                | Rule::SealedLog => "I2",
                Rule::OneHolder | Rule::OnePaymentOrder => "I3",
                Rule::Recipients | Rule::DeliveryOutcome => "I4",
                Rule::EventLists => "I17",
                Rule::ReplyOfCreation => "I5",
                Rule::ExpiryInTime | Rule::ExpiryRecorded => "I6",
                Rule::PathOfTheTable => "I8",
                Rule::FrozenBody => "I9",
                Rule::LeasesEnd => "I14",
                Rule::Amounts => "I15",
                Rule::CountsOfLists | Rule::FileBytes => "I11",
                Rule::MailOfItsOwn | Rule::MailOutcome | Rule::DailyShare | Rule::OfferMail => {
                    "I16"
                }
            },
            what: audited.to_string(),
        }
    }
}
