//! The host in memory, read like a database: each page at its own time.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{Archive, Page, Pages, Read, Record, Unavailable};
use preauth_core::value::{Cnpj, CompanyId, EventId, IdempotencyKey, OperationId, PaymentOrderId};

/// More records than any run creates.
const EVERYTHING: u32 = u32::MAX;

/// An archive that copies all records at once, and copies them again for each page.
pub(super) struct Paged(pub(super) Arc<dyn Archive>);

struct Reader {
    archive: Arc<dyn Archive>,
    /// The last record returned.
    last: Option<Place>,
}

/// The position of a record in the reading order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Operation(OperationId),
    Order(PaymentOrderId),
    Other(EventId),
    Reply(CompanyId, IdempotencyKey),
    Holder(CompanyId, Cnpj, String, OperationId),
    /// A number in a list of events; the greatest one for its end.
    Listed(CompanyId, i64),
}

#[async_trait]
impl Archive for Paged {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        Ok(Box::new(Reader {
            archive: Arc::clone(&self.0),
            last: None,
        }))
    }
}

#[async_trait]
impl Pages for Reader {
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable> {
        // Two consecutive holders are on one page.
        let limit = usize::try_from(limit).unwrap().max(2);
        let Page { host_now, records } = self.archive.pages().await?.next(EVERYTHING).await?;
        let mut placed: Vec<_> = records.into_iter().map(|it| (place(&it), it)).collect();
        placed.sort_by(|(one, _), (other, _)| one.cmp(other));
        placed.retain(|(place, _)| self.last.as_ref().is_none_or(|last| follows(place, last)));
        placed.truncate(limit);
        let last = placed.last().map(|(place, _)| place.clone());
        if last == self.last {
            placed.clear();
        }
        self.last = last.or(self.last.take());
        let records = placed.into_iter().map(|(_, record)| record).collect();
        Ok(Page { host_now, records })
    }
}

/// Whether a record follows the last one; a holder is repeated once.
fn follows(place: &Place, last: &Place) -> bool {
    place > last || (place == last && matches!(place, Place::Holder(..)))
}

fn place(read: &Read<Record>) -> Place {
    match read {
        Ok(Record::Operation(stored)) => Place::Operation(stored.operation.id),
        Ok(Record::Order(stored)) => Place::Order(stored.order.id),
        Ok(Record::Other(stored)) => Place::Other(stored.event.id),
        Ok(Record::Reply(stored)) => Place::Reply(stored.head_office, stored.key.clone()),
        Ok(Record::Holder(it)) => {
            Place::Holder(it.head_office, it.supplier, it.number.clone(), it.operation)
        }
        Ok(Record::Listed(it)) => Place::Listed(it.head_office, it.number),
        Ok(Record::ListEnd(it)) => Place::Listed(it.head_office, i64::MAX),
        other => unreachable!("the host in memory has no such record: {other:?}"),
    }
}
