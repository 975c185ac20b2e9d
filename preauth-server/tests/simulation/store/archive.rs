//! Everything that is stored, for the verdict; without a planted defect, as it is.

use async_trait::async_trait;
use preauth_core::port::{Archive, Read, Record, Snapshot, Unavailable};
use preauth_core::value::Timestamp;

use crate::defect::Defect;

use super::Database;
use super::defective::undisguised;

#[async_trait]
impl Archive for Database {
    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Unavailable> {
        let snapshot = self.ground().archive.snapshot().await?;
        if self.has(Defect::DuplicateUnconstrained) {
            Ok(Box::new(Undisguised(snapshot)))
        } else {
            Ok(snapshot)
        }
    }
}

/// Shows invoices' numbers as they were meant.
struct Undisguised(Box<dyn Snapshot>);

#[async_trait]
impl Snapshot for Undisguised {
    fn host_now(&self) -> Timestamp {
        self.0.host_now()
    }

    async fn next(&mut self, limit: u32) -> Result<Vec<Read<Record>>, Unavailable> {
        let page = self.0.next(limit).await?;
        Ok(page.into_iter().map(|read| read.map(shown)).collect())
    }
}

fn shown(record: Record) -> Record {
    match record {
        Record::Operation(mut stored) => {
            stored.operation = undisguised(stored.operation);
            Record::Operation(stored)
        }
        Record::Reply(mut stored) => {
            stored.operation = undisguised(stored.operation);
            Record::Reply(stored)
        }
        record => record,
    }
}
